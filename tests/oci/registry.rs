//! A real registry: Debian's `docker-registry`, with users, with and without encryption.

use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::time::{Duration, Instant};

use super::*;

/// `user` with the password `password`, as `htpasswd -B` writes it.
const USERS: &str = "user:$2b$04$yBsGRHFhYjkBTJzEPMu8z.MH1ze7y1hG3Q2BeFRRM4gGFUm6nsL9i\n";

/// A registry that ends with the test.
struct Registry {
    process: Child,
    address: String,
}

impl Registry {
    /// Starts a registry whose files are in the workshop.
    fn start(workshop: &Workshop, tls: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let path = |name: &str| workshop.path(name).display().to_string();
        workshop.write("users", USERS);
        let mut configuration = json!({
            "version": 0.1,
            "log": { "level": "error", "accesslog": { "disabled": true } },
            "storage": { "filesystem": { "rootdirectory": path("storage") } },
            "http": { "addr": address, "secret": "for tests" },
            "auth": { "htpasswd": { "realm": "tests", "path": path("users") } },
        });
        if tls {
            let certificate = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
            workshop.write("registry.crt", certificate.cert.pem());
            workshop.write("registry.key", certificate.signing_key.serialize_pem());
            configuration["http"]["tls"] = json!({ "certificate": path("registry.crt"), "key": path("registry.key") });
        }
        // JSON is YAML.
        workshop.write("registry.yaml", configuration.to_string());
        drop(listener);
        let process = Command::new("docker-registry")
            .args(["serve", &path("registry.yaml")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("docker-registry is there: apt-get install docker-registry");
        let registry = Self { process, address };
        let begun = Instant::now();
        while TcpStream::connect(&registry.address).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "the registry does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        registry
    }

    fn reference(&self, tag: &str) -> String {
        format!("{}/plugins/average:{tag}", self.address)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ended_already = self.process.kill();
        let _reaped = self.process.wait();
    }
}

fn log_in(workshop: &Workshop, registry: &Registry) {
    fs::create_dir_all(workshop.path("docker")).expect("a folder");
    let configuration = json!({ "auths": { registry.address.as_str(): { "auth": "dXNlcjpwYXNzd29yZA==" } } });
    workshop.write("docker/config.json", configuration.to_string());
}

fn logged_in(workshop: &Workshop, arguments: &[&str]) -> Command {
    let mut command = workshop.command(arguments);
    command.env("DOCKER_CONFIG", workshop.path("docker"));
    command
}

#[test]
fn what_is_pushed_to_a_registry_is_pulled_from_it() {
    let workshop = Workshop::new();
    let registry = Registry::start(&workshop, false);
    let (one, latest) = (registry.reference("1.0.0"), registry.reference("latest"));
    let library = plugin("average").display().to_string();
    let push = |reference: &str| {
        let push = ["plugin", "push", reference, &library, "--sign-with", "k.key"];
        ran(&mut logged_in(&workshop, &push))
    };
    let pull = |reference: &str, more: &[&str]| {
        let pull = ["plugin", "pull", reference, "--into", "plugins"];
        ran(&mut logged_in(&workshop, &[&pull[..], more].concat()))
    };
    push(&one).expect_refusal("the registry answers 401");
    log_in(&workshop, &registry);
    let pushed = push(&one).expect_success();
    // Everything but the tag and its signature is there already.
    push(&latest).expect_success();
    let pinned = pushed.stdout.lines().next().expect("the reference").to_owned();
    pull(&registry.reference("2.0.0"), &["--key", "k.key.pub"]).expect_refusal("is not in http://127.0.0.1:");
    let pulled = pull(&one, &["--key", "k.key.pub"]).expect_success();
    assert_eq!(
        pulled.stdout,
        format!("[profile.plugin.average]\nartifact = \"{pinned}\"\n")
    );
    pull(&latest, &["--key", "k.key.pub"]).expect_success();
    pull(&pinned, &[]).expect_success();
    workshop
        .run(&["plugin", "key", "other.key", "--no-password"])
        .expect_success();
    pull(&one, &["--key", "other.key.pub"]).expect_refusal("it was made by another key");
    workshop
        .run(&["plugin", "pull", &pinned, "--into", "plugins"])
        .expect_refusal("`docker login`");
    // The digest is that of a folder, too.
    let folder = workshop.push("1.0.0", &[]).stdout;
    let digest = |text: &str| {
        text.split_once('@')
            .map(|(_, digest)| digest.lines().next().unwrap_or_default().to_owned())
    };
    assert_eq!(digest(&pinned), digest(&folder));
    workshop.pin(&pulled.stdout);
    workshop
        .run(&["plugin", "inspect", "average", "--profile", "profile.toml", "--load"])
        .expect_success();
}

/// What someone with the rights of the registry changes in its storage.
#[test]
fn a_registry_is_not_believed() {
    let workshop = Workshop::new();
    let registry = Registry::start(&workshop, false);
    log_in(&workshop, &registry);
    let (one, two) = (registry.reference("1.0.0"), registry.reference("2.0.0"));
    let library = plugin("average").display().to_string();
    let push = ["plugin", "push", &one, &library, "--sign-with", "k.key"];
    ran(&mut logged_in(&workshop, &push)).expect_success();
    let pull = |reference: &str| {
        let pull = ["plugin", "pull", reference, "--into", "plugins", "--key", "k.key.pub"];
        ran(&mut logged_in(&workshop, &pull))
    };
    // The tag 2.0.0 leads to the older version.
    let tags = workshop.path("storage/docker/registry/v2/repositories/plugins/average/_manifests/tags");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(tags.join("1.0.0"))
        .arg(tags.join("2.0.0"))
        .status();
    assert!(copied.expect("cp").success());
    pull(&two).expect_refusal("it is for the tag `1.0.0`");
    pull(&one).expect_success();
    let inspected: Value = {
        let ran = workshop
            .run(&["plugin", "inspect", &library, "-o", "json"])
            .expect_success();
        serde_json::from_str(&ran.stdout).expect("JSON")
    };
    let digits = inspected["sha256"].as_str().expect("a checksum");
    let blob = workshop.path(format!(
        "storage/docker/registry/v2/blobs/sha256/{}/{digits}/data",
        &digits[..2]
    ));
    let mut bytes = fs::read(&blob).expect("the blob");
    bytes[5000] ^= 1;
    fs::write(&blob, bytes).expect("the blob");
    pull(&one).expect_refusal("has another digest");
}

#[test]
fn a_registry_with_encryption_is_believed_by_its_certificate() {
    let workshop = Workshop::new();
    let registry = Registry::start(&workshop, true);
    log_in(&workshop, &registry);
    let (reference, library) = (registry.reference("1.0.0"), plugin("average").display().to_string());
    let push = ["plugin", "push", &reference, &library, "--sign-with", "k.key"];
    ran(&mut logged_in(&workshop, &push)).expect_refusal("invalid peer certificate");
    let mut trusting = logged_in(&workshop, &push);
    ran(trusting.env("SSL_CERT_FILE", workshop.path("registry.crt"))).expect_success();
    let pull = ["plugin", "pull", &reference, "--into", "plugins", "--key", "k.key.pub"];
    let mut trusting = logged_in(&workshop, &pull);
    ran(trusting.env("SSL_CERT_FILE", workshop.path("registry.crt"))).expect_success();
}
