//! What a confined process can do, and what it cannot, tried from inside.
//!
//! Every case runs in a process of its own, which is this program again: a process is confined once and for ever, and must have a single
//! thread before, while the standard harness starts one for each test. Most cases run a second time without being confined, where they
//! must have another result: a case that is refused anyway would prove nothing.

mod linux;

fn main() -> std::process::ExitCode {
    linux::main()
}
