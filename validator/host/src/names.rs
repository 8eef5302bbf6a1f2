//! Resolves host names with the C library. Its resolver blocks while it waits for name servers, so each look-up has its
//! own thread.

use std::ffi::CString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::ptr;

use nix::sys::socket::{SockaddrLike, SockaddrStorage};
use rquickjs::{Ctx, Object, Result, function::Func};

use crate::descriptors::{errno, keep, named};
use crate::sockets::text_of;

pub fn register(native: &Object) -> Result<()> {
    native.set("lookUp", Func::from(look_up))
}

/// Starts a look-up. Returns a pipe from which the answer can be read.
fn look_up(ctx: Ctx, name: String) -> Result<i32> {
    let (reader, mut writer) = named(&ctx, std::io::pipe().map_err(errno))?;
    let answer = move || {
        let text = match addresses_in_any_family(&name) {
            Ok(addresses) => addresses.join(" "),
            Err(code) => format!("!{code}"),
        };
        // the write fails only if the reader is closed
        let _ = writer.write_all(text.as_bytes());
    };
    named(&ctx, std::thread::Builder::new().spawn(answer).map_err(errno))?;
    Ok(keep(OwnedFd::from(reader)))
}

/// The addresses of a name in both families. If a query asks for both, but a server answers for one only,
/// musl fails, whereas glibc returns the addresses of that family.
fn addresses_in_any_family(name: &str) -> std::result::Result<Vec<String>, &'static str> {
    addresses_of(name, libc::AF_UNSPEC).or_else(|code| {
        let of_one = |family| addresses_of(name, family);
        of_one(libc::AF_INET).or_else(|_| of_one(libc::AF_INET6)).map_err(|_| code)
    })
}

/// The addresses of a name, or the name of the error from getaddrinfo(3).
fn addresses_of(name: &str, family: i32) -> std::result::Result<Vec<String>, &'static str> {
    let name = CString::new(name).map_err(|_| "ENOTFOUND")?;
    // SAFETY: all fields of these structures may be zero
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_family = family;
    hints.ai_socktype = libc::SOCK_STREAM;
    // only families in which this machine has an address
    hints.ai_flags = libc::AI_ADDRCONFIG;
    let mut list = ptr::null_mut();
    // SAFETY: the pointers are valid for the call, and the list is freed below
    let code = unsafe { libc::getaddrinfo(name.as_ptr(), ptr::null(), &hints, &mut list) };
    if code != 0 {
        return Err(name_of(code));
    }
    let mut found = Vec::new();
    let mut next = list;
    // SAFETY: the list is valid until it is freed, and each entry has the length of its address
    unsafe {
        while let Some(entry) = next.as_ref() {
            let address = SockaddrStorage::from_raw(entry.ai_addr, Some(entry.ai_addrlen));
            found.extend(address.and_then(|it| text_of(&it)).map(|(text, _)| text));
            next = entry.ai_next;
        }
        libc::freeaddrinfo(list);
    }
    Ok(found)
}

/// The name of an error. Both codes for a host name without addresses become `ENOTFOUND`.
fn name_of(code: i32) -> &'static str {
    match code {
        libc::EAI_NONAME | libc::EAI_NODATA => "ENOTFOUND",
        libc::EAI_AGAIN => "EAI_AGAIN",
        _ => "EAI_FAIL",
    }
}
