use super::*;

fn login(base_url: &str, mechanism: AuthMechanism) -> Login {
    Login {
        base_url: base_url.to_owned(),
        user: "user".to_owned(),
        password: "pass".to_owned(),
        domain: String::new(),
        realm: String::new(),
        mechanism,
    }
}

/// A proof that begins with this line and knows no other.
fn begin(login: &Login) -> (Credentials, Proof) {
    let mut credentials = Credentials::default();
    let proof = credentials.begin(login);
    (credentials, proof)
}

const GET: Signed<'_> = Signed {
    method: "GET",
    uri: "/x",
    body: None,
};

const BASIC: Field<'_> = ("WWW-Authenticate", "Basic realm=\"r\"");
const DIGEST: Field<'_> = (
    "www-authenticate",
    "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"",
);
const STALE: Field<'_> = (
    "WWW-Authenticate",
    "Digest realm=\"r\", nonce=\"m\", qop=\"auth\", stale=TRUE",
);

#[test]
fn lines_are_for_urls_that_begin_so() {
    let check = |base: &str, url: &str, expected: bool| {
        let logins = [login(base, AuthMechanism::Basic)];
        let origin = Origin::of(url).expect("a whole URL");
        assert_eq!(
            login_for(&logins, &origin).is_some(),
            expected,
            "{base} for {url}"
        );
    };
    check("http://h/a", "http://h/a/b?c", true);
    check("http://h/a", "http://h/abc", true);
    check("http://h/a?c", "http://h/a?c", false);
    check("http://h:80/", "http://h/a", true);
    check("http://h/", "http://h:80/a", true);
    check("http://h:8080", "http://h:8080/a", true);
    check("http://h/", "http://h:8080/a", false);
    check("http://H/", "http://h/", false);
    check("https://h:443/", "https://h/", true);
    check("http://h/a b", "http://h/a%20b", true);
    check("", "http://h/", true);
    let two = [
        login("http://g", AuthMechanism::Basic),
        login("http://h", AuthMechanism::Digest),
    ];
    let origin = Origin::of("http://h/").expect("a whole URL");
    let found = login_for(&two, &origin).map(|login| login.mechanism);
    assert_eq!(found, Some(AuthMechanism::Digest));
}

#[test]
fn basic_does_not_wait_to_be_asked() {
    let login = login("", AuthMechanism::Basic);
    let (credentials, mut proof) = begin(&login);
    let field = proof.field(&GET, 0);
    // RFC 4648 of "user:pass".
    assert_eq!(field.as_deref(), Some("Basic dXNlcjpwYXNz"));
    // A server that is not content is not asked again.
    assert!(!proof.answered(&credentials, 401, &[BASIC, DIGEST]));
    assert_eq!(proof.field(&GET, 0), None);
}

#[test]
fn digest_waits_to_be_asked_and_answers_what_is_asked() {
    let login = login("", AuthMechanism::Digest);
    for (asked, starts) in [
        (vec![DIGEST], "Digest username=\"user\""),
        (vec![BASIC, DIGEST], "Digest username=\"user\""),
        (vec![BASIC], "Basic dXNlcjpwYXNz"),
    ] {
        let (credentials, mut proof) = begin(&login);
        assert_eq!(proof.field(&GET, 0), None);
        assert!(proof.answered(&credentials, 401, &asked));
        let field = proof.field(&GET, 0).unwrap_or_default();
        assert!(field.starts_with(starts), "{field}");
        assert!(!proof.answered(&credentials, 401, &asked));
    }
    let (credentials, mut proof) = begin(&login);
    assert!(!proof.answered(&credentials, 401, &[]));
    assert!(!proof.answered(&credentials, 401, &[("WWW-Authenticate", "OAuth")]));
    assert!(!proof.answered(&credentials, 200, &[DIGEST]));
}

#[test]
fn basic_gives_way_to_digest() {
    let login = login("", AuthMechanism::AsAsked);
    let (credentials, mut proof) = begin(&login);
    assert!(
        proof
            .field(&GET, 0)
            .is_some_and(|field| field.starts_with("Basic "))
    );
    assert!(proof.answered(&credentials, 401, &[DIGEST]));
    assert!(
        proof
            .field(&GET, 0)
            .is_some_and(|field| field.starts_with("Digest "))
    );
    assert!(!proof.answered(&credentials, 200, &[]));
    // The next request of the sample goes on with the same nonce.
    let next = proof.field(&GET, 0).unwrap_or_default();
    assert!(next.contains("nc=00000002"), "{next}");
}

#[test]
fn stale_nonces_are_renewed_but_not_for_ever() {
    let login = login("", AuthMechanism::Digest);
    let (credentials, mut proof) = begin(&login);
    assert!(proof.answered(&credentials, 401, &[DIGEST]));
    proof.field(&GET, 0);
    let mut asked = 1;
    while proof.answered(&credentials, 401, &[STALE]) {
        let field = proof.field(&GET, 0).unwrap_or_default();
        assert!(field.contains("nonce=\"m\""), "{field}");
        asked += 1;
    }
    assert_eq!(asked, CHALLENGES_MAX);
}

/// The library tries and has nothing to say: the request goes out a second time as it was.
#[test]
fn what_cannot_be_answered_is_asked_twice() {
    let login = login("", AuthMechanism::Digest);
    for challenge in [
        "Negotiate",
        "Digest nonce=n",
        "Digest realm=r, nonce=n, algorithm=own",
    ] {
        let asked = [("WWW-Authenticate", challenge)];
        let (credentials, mut proof) = begin(&login);
        assert!(proof.answered(&credentials, 401, &asked), "{challenge}");
        assert_eq!(proof.field(&GET, 0), None);
        assert!(!proof.answered(&credentials, 401, &asked), "{challenge}");
    }
    let (credentials, mut proof) = begin(&login);
    assert!(proof.answered(&credentials, 401, &[("WWW-Authenticate", "NTLM"), BASIC]));
    assert!(
        proof
            .field(&GET, 0)
            .is_some_and(|field| field.starts_with("Basic "))
    );
}

#[test]
fn passwords_belong_to_realms() {
    let own = Login {
        realm: "s".to_owned(),
        ..login("", AuthMechanism::Digest)
    };
    let asks = |proof: &mut Proof, credentials: &Credentials, challenge: &str| {
        proof.answered(credentials, 401, &[("WWW-Authenticate", challenge)])
    };
    for (challenge, knows) in [
        ("Basic realm=\"r\"", false),
        ("Basic realm=\"s\"", true),
        ("Basic", true),
    ] {
        let (credentials, mut proof) = begin(&own);
        assert_eq!(
            asks(&mut proof, &credentials, challenge),
            knows,
            "{challenge}"
        );
    }
    // A line for any realm that was used before is still there, and preferred.
    let any = Login {
        user: "any".to_owned(),
        ..login("", AuthMechanism::Basic)
    };
    let mut credentials = Credentials::default();
    credentials.begin(&any);
    let basic = Login {
        mechanism: AuthMechanism::Basic,
        ..own.clone()
    };
    let mut proof = credentials.begin(&basic);
    assert_eq!(proof.field(&GET, 0), Some(any.basic()));
    credentials.clear();
    let mut proof = credentials.begin(&basic);
    assert_eq!(proof.field(&GET, 0), Some(basic.basic()));
}

#[test]
fn names_have_domains_and_one_byte_a_character() {
    let login = Login {
        user: "\u{fc}".to_owned(),
        domain: "corp".to_owned(),
        ..login("", AuthMechanism::Basic)
    };
    // "CORP\?:pass"
    assert_eq!(login.basic(), "Basic Q09SUFw/OnBhc3M=");
}

proptest::proptest! {
    #[test]
    fn any_challenge_is_answered_or_not(challenge in "(Digest|Basic|) ?\\PC*") {
        let login = login("", AuthMechanism::Digest);
        let (credentials, mut proof) = begin(&login);
        if proof.answered(&credentials, 401, &[("WWW-Authenticate", &challenge)]) {
            proof.field(&GET, 1);
        }
    }

    #[test]
    fn any_path_is_matched(path in "[/%a-f0-9\u{e9}]*") {
        let url = format!("http://h/{path}");
        let origin = Origin::of(&url).expect("a whole URL");
        proptest::prop_assert!(login_for(&[login("http://h/", AuthMechanism::Basic)], &origin).is_some());
    }
}
