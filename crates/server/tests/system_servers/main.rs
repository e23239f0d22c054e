//! Real servers started, set and stopped: the *system* profile, which skips without
//! `WEIR_SYSTEM_TESTS=1`.

mod agent;
mod choices;
mod httpd;
mod httpd_configurations;
mod postgresql;
mod running;
mod spring_configurations;
mod tomcat;
mod tomcat_configurations;
