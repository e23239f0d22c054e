//! Which addresses may be asked without a word of the user's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of unique local addresses (RFC 4193) in which clouds tell every machine about itself,
/// keys included: prefix and its length. Amazon: "Instance Metadata Service" of EC2,
/// `fd00:ec2::254` and its neighbours; Google: `fd20:ce::254`; Oracle: `fd00:c1::a9fe:a9fe`;
/// Scaleway: `fd00:42::42`.
const METADATA: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0), 64),
    (Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe), 128),
    (Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42), 128),
];

/// Whether an address is one of this machine's own (loopback, and the unspecified one, which leads
/// there) or of a private network: RFC 1918, RFC 4193.
///
/// Everything else has to be allowed by name. That are also addresses which do not leave the site:
/// link-local ones (RFC 3927, RFC 4291), where clouds answer with a machine's keys
/// (169.254.169.254); those that a provider shares among its customers (RFC 6598, 100.64.0.0/10),
/// whose neighbours are strangers; multicast and broadcast; and addresses that only a gateway turns
/// into what they hold (6to4, Teredo, NAT64), whatever that is. An IPv4 address that is written as
/// an IPv6 one (`::ffff:a.b.c.d`) is judged as what it is.
pub fn is_near(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_unspecified(),
        IpAddr::V6(v6) => {
            let is_metadata = METADATA.iter().any(|&(prefix, bits)| {
                let differs = v6.to_bits() ^ prefix.to_bits();
                differs.leading_zeros() >= bits
            });
            v6.is_loopback() || v6.is_unspecified() || (v6.is_unique_local() && !is_metadata)
        }
    }
}

/// Whether a request is meant for a port of this machine by what it names in `Host`: an address, or
/// localhost. Any other name may be a page's, which has it looked up as this machine's address
/// (DNS rebinding) and then asks in the name of whoever reads the page.
pub fn is_named_by_address(host: &str) -> bool {
    let in_brackets = host.strip_prefix('[').map(|rest| rest.split_once(']'));
    let (name, rest) = match in_brackets {
        Some(Some(parts)) => parts,
        Some(None) => return false,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let port_fits = rest
        .strip_prefix(':')
        .map_or(rest.is_empty(), |port| port.parse::<u16>().is_ok());
    let is_own = name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok();
    port_fits && is_own
}

/// What to call an address that is not near, for people.
pub fn kind(address: IpAddr) -> &'static str {
    match address.to_canonical() {
        IpAddr::V4(v4) if v4.is_link_local() => "link-local",
        IpAddr::V4(v4) if v4.octets()[0] == 100 && v4.octets()[1] & 0xc0 == 64 => "shared",
        IpAddr::V4(v4) if v4.is_multicast() => "multicast",
        IpAddr::V6(v6) if v6.is_unicast_link_local() => "link-local",
        IpAddr::V6(v6) if v6.is_unique_local() => "metadata",
        IpAddr::V6(v6) if v6.is_multicast() => "multicast",
        _ => "public",
    }
}

/// What else a name may stand for: the address that a Java virtual machine reads in it.
///
/// Numbers that begin with 0 are octal for the C library (`0177.0.0.1` is 127.0.0.1) and decimal
/// for Java (177.0.0.1).
pub fn decimal_reading(name: &str) -> Option<Ipv4Addr> {
    let mut octets = [0; 4];
    let mut parts = name.trim_end_matches('.').split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *octet = is_number.then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(octets))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::net::ToSocketAddrs as _;

    #[test]
    fn every_range_is_judged() {
        let near = [
            "127.0.0.1",
            "127.255.255.254",
            "10.0.0.0",
            "10.255.255.255",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "192.168.255.255",
            "0.0.0.0",
            "::",
            "::1",
            "fc00::1",
            "fd00::7",
            "fdff:ffff::1",
            "::ffff:127.0.0.1",
            "::ffff:10.1.2.3",
        ];
        let far = [
            "169.254.169.254",
            "169.254.0.1",
            "fe80::1",
            "febf::1",
            "fe80::a9fe:a9fe",
            "::ffff:169.254.169.254",
            "::ffff:203.0.113.7",
            "0.0.0.1",
            "0.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "9.255.255.255",
            "11.0.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "192.0.0.192",
            "168.63.129.16",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::127.0.0.1",
            "::10.0.0.1",
            "::169.254.169.254",
            "::2",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:a9fe:a9fe::1",
            "2001:0:a9fe:a9fe::1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::10.0.0.1",
            "fec0::1",
            "ff01::1",
            "ff02::1",
            "fbff::1",
            "fe00::1",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd00:ec2:1::1",
            "fd20:ce::254",
            "fd00:c1::a9fe:a9fe",
            "fd00:42::42",
        ];
        for address in near {
            assert!(is_near(address.parse().unwrap()), "{address}");
        }
        for address in far {
            assert!(!is_near(address.parse().unwrap()), "{address}");
        }
    }

    /// The resolver understands more than four decimal numbers; what it finds is judged.
    #[test]
    fn other_ways_to_write_an_address_are_judged_by_what_they_mean() {
        for (name, expect) in [
            ("2852039166", false),
            ("0xa9fea9fe", false),
            ("0xa9.0xfe.43518", false),
            ("0251.0376.0251.0376", false),
            ("169.16689662", false),
            ("fe80::1%lo", false),
            ("fe80::1%1", false),
            ("2130706433", true),
            ("0x7f.1", true),
            ("0177.0.0.1", true),
            ("127.1", true),
        ] {
            let mut found = (name, 80).to_socket_addrs().unwrap();
            assert!(
                found.all(|address| is_near(address.ip()) == expect),
                "{name}"
            );
        }
    }

    #[test]
    fn addresses_that_are_not_near_are_called_what_they_are() {
        for (address, called) in [
            ("169.254.169.254", "link-local"),
            ("::ffff:169.254.169.254", "link-local"),
            ("fe80::1", "link-local"),
            ("100.64.0.1", "shared"),
            ("100.128.0.1", "public"),
            ("fd00:ec2::254", "metadata"),
            ("224.0.0.1", "multicast"),
            ("203.0.113.7", "public"),
        ] {
            assert_eq!(kind(address.parse().unwrap()), called, "{address}");
        }
    }

    #[test]
    fn java_reads_octal_numbers_as_decimal_ones() {
        let reading = |name: &str| decimal_reading(name).map(|address| address.to_string());
        assert_eq!(reading("0177.0.0.1").as_deref(), Some("177.0.0.1"));
        assert_eq!(reading("127.0.0.1").as_deref(), Some("127.0.0.1"));
        for name in [
            "0x7f.0.0.1",
            "localhost",
            "1.2.3",
            "1.2.3.4.5",
            "256.0.0.1",
            "",
        ] {
            assert_eq!(reading(name), None, "{name}");
        }
    }

    #[test]
    fn names_can_be_led_anywhere_and_addresses_cannot() {
        for host in [
            "127.0.0.1:80",
            "localhost",
            "LOCALHOST:1",
            "[::1]:8080",
            "[::1]",
            "10.0.0.1",
        ] {
            assert!(is_named_by_address(host), "{host}");
        }
        for host in [
            "rebound.example",
            "127.0.0.1.evil.example:80",
            "localhost.evil",
            "",
            "[::1",
            "127.0.0.1:x",
        ] {
            assert!(!is_named_by_address(host), "{host}");
        }
    }
}
