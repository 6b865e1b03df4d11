//! etcd and kube-apiserver in a folder: started, killed, restarted, ended.
//!
//! The program comes from `tests/control-plane/build`. Both processes listen on free ports of the loopback interface, which
//! stay the same across restarts, so that clients reconnect. etcd starts first and ends last: an API server without etcd
//! takes a minute to end.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use kube::Client;

use crate::ports::Ports;
use crate::process::{Input, Process};
use crate::users::{self, ADMIN, User};
use crate::{AuditLog, Error, crds};

const API_SERVER: &str = "kube-apiserver";
/// Time that a process gets to become ready. It takes one or two seconds on an idle machine.
const READINESS: Duration = Duration::from_secs(120);
/// Time for an answer of a process that is starting.
const LOOK: Duration = Duration::from_secs(10);
/// Time between two looks at it.
const INTERVAL: Duration = Duration::from_millis(100);
/// What the API server says last if etcd does not answer while it starts.
const ETCD_LATE: &str = "context deadline exceeded";
/// What either says last if another process listens on its port.
const PORT_TAKEN: &str = "address already in use";

/// A running control plane: etcd, kube-apiserver, Karmada's resources. Dropping it kills both processes.
#[derive(Debug)]
pub struct ControlPlane {
    /// The folder of both processes: their data, configuration and logs.
    servers: PathBuf,
    /// The folder of the kubeconfigs.
    folder: PathBuf,
    audit_log: AuditLog,
    program: PathBuf,
    ports: Ports,
    input: Input,
    api_server: Option<Process>,
    etcd: Option<Process>,
}

impl ControlPlane {
    /// Starts a control plane in a folder, which is created if absent, and installs Karmada's resources. Its processes end
    /// with the returned value, and with the program that called this, however that ends.
    pub async fn start(folder: &Path) -> Result<Self, Error> {
        Self::start_on(folder, Ports::free).await
    }

    /// The same, on these ports, or the next ones if another process listens on one of them by then.
    pub async fn start_on(folder: &Path, mut ports: impl FnMut() -> Result<Ports, Error>) -> Result<Self, Error> {
        loop {
            match Self::start_with(folder, ports()?, Input::Lifeline).await {
                Err(Error::Ended { tail, .. }) if tail.contains(PORT_TAKEN) => {
                    // What they have written there is for the former ports.
                    std::fs::remove_dir_all(folder).map_err(Error::file(folder))?;
                }
                ended => return ended,
            }
        }
    }

    /// Like [`Self::start`], on these ports. With [`Input::Empty`] the processes outlive this program if it is killed.
    pub async fn start_with(folder: &Path, ports: Ports, input: Input) -> Result<Self, Error> {
        let folder = created(folder)?;
        let mut control_plane = Self {
            program: program()?,
            audit_log: AuditLog::new(folder.join("audit.log")),
            servers: folder.clone(),
            folder,
            ports,
            input,
            api_server: None,
            etcd: None,
        };
        control_plane.write_configuration()?;
        control_plane.start_etcd()?;
        control_plane.start_api_server().await?;
        crds::install(&control_plane.client(ADMIN).await?).await?;
        Ok(control_plane)
    }

    /// The folder with the kubeconfigs, and with the data and the logs of servers that are not pooled.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The API server's address.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.ports.api_server)
    }

    /// etcd's address, for clients.
    pub(crate) fn etcd_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.etcd)
    }

    /// The kubeconfig of a user.
    pub fn kubeconfig(&self, user: User) -> PathBuf {
        user.kubeconfig(&self.folder)
    }

    /// A client that acts as a user.
    pub async fn client(&self, user: User) -> Result<Client, Error> {
        users::client(&self.kubeconfig(user)).await
    }

    /// A client of an administrator, which needs nothing of a test's folder.
    pub(crate) async fn administrator(&self) -> Result<Client, Error> {
        users::client(&ADMIN.kubeconfig(&self.servers)).await
    }

    /// The log of every write that the API server answered; of a pooled one, since it was handed over.
    pub fn audit_log(&self) -> AuditLog {
        self.audit_log.clone()
    }

    /// Hands the control plane over to a test with a folder of its own: kubeconfigs are written there, and the audit log begins now.
    pub(crate) fn hand_over(&mut self, folder: &Path) -> Result<(), Error> {
        self.folder = created(folder)?;
        self.write_kubeconfigs()?;
        self.audit_log = self.audit_log().rest()?;
        Ok(())
    }

    /// Kills the API server, as `kill -9` does. etcd keeps running.
    pub fn kill_api_server(&mut self) {
        self.api_server.take().map(Process::kill).unwrap_or_default();
    }

    /// Kills etcd, as `kill -9` does. The API server keeps running and answers with errors.
    pub fn kill_etcd(&mut self) {
        self.etcd.take().map(Process::kill).unwrap_or_default();
    }

    /// Starts etcd. The API server finds it again by itself.
    pub fn start_etcd(&mut self) -> Result<(), Error> {
        let mut command = self.command();
        command.arg("etcd");
        command.arg("--data-dir").arg(self.servers.join("etcd"));
        command.arg(format!("--client-url={}", self.etcd_url()));
        command.arg(format!("--peer-url=http://127.0.0.1:{}", self.ports.etcd_peer));
        self.etcd = Some(self.spawn("etcd", &mut command)?);
        Ok(())
    }

    /// Starts the API server and waits until it is ready. One that ends because etcd did not answer within its 20 seconds, on a machine that has
    /// other things to do, is started again, as a kubelet would.
    pub async fn start_api_server(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            self.spawn_api_server()?;
            match self.wait_until_ready().await {
                Err(Error::Ended { name, tail, .. })
                    if name == API_SERVER && tail.contains(ETCD_LATE) && start.elapsed() < READINESS => {}
                ended => return ended,
            }
        }
    }

    fn spawn_api_server(&mut self) -> Result<(), Error> {
        let file = |name: &str| self.servers.join(name).display().to_string();
        let mut command = self.command();
        command.arg("kube-apiserver").args([
            format!("--etcd-servers={}", self.etcd_url()),
            format!("--secure-port={}", self.ports.api_server),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            // It would publish the loopback address as the Service `kubernetes`, which the API refuses.
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--cert-dir={}", file("certificates")),
            format!("--service-account-key-file={}", file("service-accounts.key")),
            format!("--service-account-signing-key-file={}", file("service-accounts.key")),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            format!("--token-auth-file={}", file("tokens.csv")),
            "--authorization-mode=RBAC".to_owned(),
            format!("--audit-policy-file={}", file("audit-policy.json")),
            format!("--audit-log-path={}", file("audit.log")),
            // The log is read as one file, so it is never rotated.
            "--audit-log-maxsize=100000".to_owned(),
        ]);
        self.api_server = Some(self.spawn(API_SERVER, &mut command)?);
        Ok(())
    }

    /// Waits until the API server says that it is ready.
    pub async fn wait_until_ready(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        let certificate = self.certificate();
        while start.elapsed() < READINESS {
            for process in [&mut self.etcd, &mut self.api_server].into_iter().flatten() {
                process.check_running()?;
            }
            if certificate.exists() && tokio::time::timeout(LOOK, self.is_ready()).await == Ok(true) {
                return Ok(());
            }
            tokio::time::sleep(INTERVAL).await;
        }
        Err(Error::NotReady {
            name: API_SERVER.to_owned(),
            seconds: READINESS.as_secs(),
            log: self.servers.join("kube-apiserver.log"),
        })
    }

    /// Asks the API server once.
    async fn is_ready(&self) -> bool {
        // A new client each time: the file of the certificate can be there and still be empty.
        let Ok(client) = users::client(&self.kubeconfig(ADMIN)).await else {
            return false;
        };
        client
            .request_text(http_get("/readyz"))
            .await
            .is_ok_and(|text| text == "ok")
    }

    /// Ends both processes properly, the API server first.
    pub fn stop(mut self) -> Result<(), Error> {
        for process in [self.api_server.take(), self.etcd.take()].into_iter().flatten() {
            process.terminate()?;
        }
        Ok(())
    }

    /// Leaves both processes running when this program ends. Returns their IDs, the API server's first.
    pub fn detach(mut self) -> Vec<u32> {
        [self.api_server.take(), self.etcd.take()]
            .into_iter()
            .flatten()
            .map(Process::detach)
            .collect()
    }

    /// The file with the certificate, which the API server writes while it starts.
    fn certificate(&self) -> PathBuf {
        self.servers.join("certificates/apiserver.crt")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        // Collecting garbage would take a third of the processor time until the API server is ready. Later, a process collects only what is
        // beyond this size: seldom, because a server of the pool lives for minutes and needs a quarter of it.
        command.env("GOGC", "off").env("GOMEMLIMIT", "1GiB");
        if self.input == Input::Lifeline {
            command.arg("--while-stdin-open");
        }
        command
    }

    fn spawn(&self, name: &str, command: &mut Command) -> Result<Process, Error> {
        Process::spawn(name, command, &self.servers.join(format!("{name}.log")), self.input)
    }

    fn write_configuration(&self) -> Result<(), Error> {
        let write = |name: &str, text: &str| {
            let path = self.servers.join(name);
            std::fs::write(&path, text).map_err(Error::file(path))
        };
        write("tokens.csv", &users::token_file())?;
        write("audit-policy.json", &crate::audit::policy().to_string())?;
        self.write_kubeconfigs()
    }

    fn write_kubeconfigs(&self) -> Result<(), Error> {
        let certificate = self.certificate();
        for user in users::ALL {
            users::write_kubeconfig(&self.kubeconfig(user), user, &self.url(), Some(&certificate))?;
        }
        Ok(())
    }
}

impl AsRef<ControlPlane> for ControlPlane {
    fn as_ref(&self) -> &ControlPlane {
        self
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // The API server first: it would log a page of errors about etcd.
        self.kill_api_server();
        self.kill_etcd();
    }
}

/// The full path of a folder, which is created if absent.
fn created(folder: &Path) -> Result<PathBuf, Error> {
    std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
    folder.canonicalize().map_err(Error::file(folder))
}

/// A GET request without parameters.
fn http_get(path: &str) -> http::Request<Vec<u8>> {
    let mut request = http::Request::new(Vec::new());
    *request.uri_mut() = path.parse().unwrap_or_default();
    request
}

/// The folder `tests/control-plane`.
pub fn source_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The program that holds etcd and kube-apiserver. Builds it if necessary, which takes minutes.
fn program() -> Result<PathBuf, Error> {
    let script = source_folder().join("build");
    let output = Command::new(&script)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(Error::file(&script))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        return Err(Error::Build {
            output: text(&output.stderr),
        });
    }
    Ok(PathBuf::from(text(&output.stdout).trim_end()))
}
