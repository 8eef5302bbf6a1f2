//! Files, standard output and standard error.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rquickjs::{
    Ctx, Object, Result, TypedArray,
    function::{Func, Opt},
};

use crate::descriptors::{errno, named};

pub fn register(native: &Object) -> Result<()> {
    native.set("readFile", Func::from(read_file))?;
    native.set("writeFile", Func::from(write_file))?;
    native.set("readLink", Func::from(read_link))?;
    native.set("random", Func::from(random))?;
    native.set("write", Func::from(write))
}

/// The text of a file, or only its lines that contain `part`, so that a long file needs little memory.
fn read_file(ctx: Ctx, path: String, part: Opt<String>) -> Result<String> {
    let read = match part.0 {
        None => fs::read(path),
        Some(part) => fs::File::open(path).and_then(|file| lines_with(&part, BufReader::new(file))),
    };
    Ok(String::from_utf8_lossy(&named(&ctx, read.map_err(errno))?).into_owned())
}

fn lines_with(part: &str, mut file: impl BufRead) -> std::io::Result<Vec<u8>> {
    let (mut kept, mut line) = (Vec::new(), Vec::new());
    while file.read_until(b'\n', &mut line)? > 0 {
        if line.windows(part.len()).any(|bytes| bytes == part.as_bytes()) {
            kept.extend_from_slice(&line);
        }
        line.clear();
    }
    Ok(kept)
}

fn write_file(ctx: Ctx, path: String, text: String) -> Result<()> {
    named(&ctx, fs::write(path, text).map_err(errno))
}

fn read_link(ctx: Ctx, path: String) -> Result<String> {
    let target = named(&ctx, fs::read_link(path).map_err(errno))?;
    Ok(target.to_string_lossy().into_owned())
}

fn random(ctx: Ctx<'_>, count: usize) -> Result<TypedArray<'_, u8>> {
    let mut bytes = vec![0; count];
    // every container has this device: OCI runtime specification, "Default Devices"
    let read = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    named(&ctx, read.map_err(errno))?;
    TypedArray::new(ctx, bytes)
}

/// Writes a text. Drops the rest if the stream blocks for 100 ms, so that no log reader stops the program.
fn write(descriptor: i32, text: String) {
    let (out, err) = (std::io::stdout(), std::io::stderr());
    let stream = if descriptor == 1 { out.as_fd() } else { err.as_fd() };
    // a writable pipe accepts this much without blocking: `PIPE_BUF` of pipe(7)
    for part in text.as_bytes().chunks(4096) {
        let mut asked = [PollFd::new(stream, PollFlags::POLLOUT)];
        let is_ready = poll(&mut asked, PollTimeout::from(100u8)).is_ok_and(|count| count > 0);
        if !is_ready || nix::unistd::write(stream, part).is_err() {
            return;
        }
    }
}
