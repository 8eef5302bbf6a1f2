//! The interfaces with their addresses, and the kernel's route to an address, as `ip route get` shows it
//! (rtnetlink(7)). Asking for a route needs no privileges, and takes the same time for any number of routes.

use std::net::IpAddr;

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_indextoname;
use nix::sys::socket::SockProtocol;
use rquickjs::{Array, Ctx, Object, Result, function::Func};

use crate::descriptors::named;
use crate::sockets::{ask_kernel, text_of};

pub fn register(native: &Object) -> Result<()> {
    native.set("interfaces", Func::from(interfaces))?;
    native.set("route", Func::from(route))
}

/// Constants of `include/uapi/linux/rtnetlink.h`.
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_VIA: u16 = 18;
/// The ends of `nlmsghdr` and of `rtmsg`, and the offset of the route's type.
const HEADER: usize = 16;
const ROUTE: usize = HEADER + 12;
const TYPE: usize = HEADER + 7;

fn route(ctx: Ctx<'_>, address: String) -> Result<Object<'_>> {
    let answer = named(&ctx, ask(&address))?;
    let object = Object::new(ctx.clone())?;
    let mut rest = &answer[ROUTE..];
    while rest.len() >= 4 {
        let [length, kind] = [0, 2].map(|at| u16::from_ne_bytes([rest[at], rest[at + 1]]));
        let length = usize::from(length).clamp(4, rest.len());
        let value = &rest[4..length];
        match kind {
            RTA_OIF if value.len() == 4 => {
                let index = u32::from_ne_bytes([value[0], value[1], value[2], value[3]]);
                let name = if_indextoname(index).unwrap_or_default();
                object.set("device", name.to_string_lossy().into_owned())?;
            }
            RTA_GATEWAY => object.set("gateway", address_of(value))?,
            // the value is the family, then the address
            RTA_VIA => object.set("gateway", value.get(2..).and_then(address_of))?,
            _ => {}
        }
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    Ok(object)
}

/// The kernel's answer, or its error. For IPv6, the answer may be a route whose type stands for an error.
fn ask(address: &str) -> nix::Result<Vec<u8>> {
    let (family, bytes) = match address.parse().map_err(|_| Errno::EINVAL)? {
        IpAddr::V4(address) => (libc::AF_INET, address.octets().to_vec()),
        IpAddr::V6(address) => (libc::AF_INET6, address.octets().to_vec()),
    };
    let mut request = vec![0; ROUTE];
    request[4..6].copy_from_slice(&RTM_GETROUTE.to_ne_bytes());
    request[6..8].copy_from_slice(&(libc::NLM_F_REQUEST as u16).to_ne_bytes());
    request[HEADER] = family as u8;
    // the prefix length of the destination
    request[HEADER + 1] = bytes.len() as u8 * 8;
    request.extend((4 + bytes.len() as u16).to_ne_bytes());
    request.extend(RTA_DST.to_ne_bytes());
    request.extend(bytes);
    let length = request.len() as u32;
    request[0..4].copy_from_slice(&length.to_ne_bytes());
    let answer = ask_kernel(SockProtocol::NetlinkRoute, &request)?;
    if answer.len() < ROUTE || u16::from_ne_bytes([answer[4], answer[5]]) != RTM_NEWROUTE {
        let code =
            answer.get(HEADER..HEADER + 4).map_or(0, |it| i32::from_ne_bytes([it[0], it[1], it[2], it[3]]));
        return Err(Errno::from_raw(-code));
    }
    match answer[TYPE] {
        libc::RTN_BLACKHOLE => Err(Errno::EINVAL),
        libc::RTN_UNREACHABLE => Err(Errno::EHOSTUNREACH),
        libc::RTN_PROHIBIT => Err(Errno::EACCES),
        _ => Ok(answer),
    }
}

fn address_of(value: &[u8]) -> Option<String> {
    let address = match value.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(value).ok()?),
        _ => IpAddr::from(<[u8; 16]>::try_from(value).ok()?),
    };
    Some(address.to_string())
}

/// An entry for each link-layer address and each IP address of each interface, as getifaddrs(3) lists them.
fn interfaces(ctx: Ctx<'_>) -> Result<Array<'_>> {
    let list = Array::new(ctx.clone())?;
    for (index, entry) in named(&ctx, getifaddrs())?.enumerate() {
        let object = Object::new(ctx.clone())?;
        object.set("name", entry.interface_name)?;
        object.set("flags", entry.flags.bits())?;
        if let Some(address) = &entry.address {
            object.set("address", text_of(address).map(|(text, _)| text))?;
            let bytes = address.as_link_addr().and_then(|link| link.addr());
            object.set("mac", bytes.map(|bytes| bytes.map(|byte| format!("{byte:02x}")).join(":")))?;
        }
        list.set(index, object)?;
    }
    Ok(list)
}
