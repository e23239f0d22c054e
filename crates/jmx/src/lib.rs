//! JMeter test plans into load plans, with positions.
