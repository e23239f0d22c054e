//! What a client remembers between requests: cookies, answers that need not be asked for again,
//! and how it proves who it is.
//!
//! [`CookieStore`], [`Cache`] and [`Login`] are JMeter's HTTP Cookie, Cache and Authorization
//! Managers, with the meaning of JMeter 5.6.3 and of the HTTP library that it uses, because plans
//! are compared by the requests that they send. Where that meaning differs from what browsers and
//! today's RFCs do, which is often, the module says so; a library that follows the RFCs would send
//! other requests.
//!
//! ```
//! use weir_session::{CookieRules, CookieStore, Origin};
//!
//! let mut cookies = CookieStore::new(CookieRules::default());
//! let page = Origin::of("http://127.0.0.1:8080/shop/basket?item=7").expect("a whole URL");
//! cookies.receive(&page, "id=42; Path=/shop", 0, |_| ());
//! assert_eq!(cookies.header(&page).as_deref(), Some("id=42"));
//! let other = Origin::of("http://127.0.0.1:8080/").expect("a whole URL");
//! assert_eq!(cookies.header(&other), None);
//! ```
//!
//! Texts of headers are texts whose characters are the bytes that were received, as in JMeter.
//!
//! Deliberately absent: sockets, clocks and randomness (times and nonces are arguments), the list
//! of public suffixes, NTLM and Kerberos.

mod cache;
mod cookies;
mod date;
mod fields;
mod login;
mod origin;
mod token;

pub use cache::{Answer, Cache, Conditions};
pub use cookies::{Cookie, CookieRules, CookieStore};
pub use fields::Field;
pub use login::{Credentials, Login, Proof, Signed, login_for};
pub use origin::Origin;
