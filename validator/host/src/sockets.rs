//! TCP sockets. None of these functions blocks.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    self as net, AddressFamily, Backlog, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, sockopt,
};
use rquickjs::{Ctx, Object, Result, function::Func};

use crate::descriptors::{keep, named, on};

pub fn register(native: &Object) -> Result<()> {
    native.set("socket", Func::from(socket))?;
    native.set("bind", Func::from(bind))?;
    native.set("connect", Func::from(connect))?;
    native.set("listen", Func::from(listen))?;
    native.set("accept", Func::from(accept))?;
    native.set("socketError", Func::from(socket_error))?;
    native.set("originalPort", Func::from(original_port))?;
    native.set("dropAll", Func::from(drop_all))?;
    native.set("dropped", Func::from(dropped))?;
    native.set("stateAt", Func::from(state_at))?;
    native.set("localEnd", Func::from(|ctx, socket| end_of(ctx, socket, net::getsockname)))?;
    native.set("otherEnd", Func::from(|ctx, socket| end_of(ctx, socket, net::getpeername)))
}

const FLAGS: SockFlag = SockFlag::SOCK_NONBLOCK.union(SockFlag::SOCK_CLOEXEC);

fn socket(ctx: Ctx, family: u8, errors: bool) -> Result<i32> {
    named(&ctx, open(family, SockType::Stream, errors)).map(keep)
}

/// Opens a socket for IPv4 (4) or IPv6 (6). With `errors`, the socket keeps ICMP messages about its packets.
/// TCP sockets keep the messages about a connect since Linux 5.8.
pub fn open(family: u8, kind: SockType, errors: bool) -> nix::Result<OwnedFd> {
    let number = if family == 4 { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let socket = net::socket(number, kind, FLAGS, None)?;
    match (errors, family) {
        (false, _) => {}
        (true, 4) => net::setsockopt(&socket, sockopt::Ipv4RecvErr, &true)?,
        (true, _) => net::setsockopt(&socket, sockopt::Ipv6RecvErr, &true)?,
    }
    Ok(socket)
}

fn bind(ctx: Ctx, socket: i32, address: String, port: u16) -> Result<()> {
    on(&ctx, socket, |open| {
        let address = parse(&address, port)?;
        net::setsockopt(&open, sockopt::ReuseAddr, &true)?;
        if address.is_ipv6() {
            net::setsockopt(&open, sockopt::Ipv6V6Only, &true)?;
        }
        net::bind(open.as_raw_fd(), &SockaddrStorage::from(address))
    })
}

fn connect(ctx: Ctx, socket: i32, address: String, port: u16) -> Result<()> {
    on(&ctx, socket, |open| net::connect(open.as_raw_fd(), &SockaddrStorage::from(parse(&address, port)?)))
}

fn listen(ctx: Ctx, socket: i32) -> Result<()> {
    on(&ctx, socket, |open| net::listen(&open, Backlog::MAXALLOWABLE))
}

fn accept(ctx: Ctx, socket: i32) -> Result<i32> {
    let accepted = on(&ctx, socket, |open| net::accept4(open.as_raw_fd(), FLAGS))?;
    // SAFETY: `accept4` has just opened this descriptor, and no other code uses it
    Ok(keep(unsafe { OwnedFd::from_raw_fd(accepted) }))
}

/// Throws the error with which a connect ended, if there was one.
fn socket_error(ctx: Ctx, socket: i32) -> Result<()> {
    let error = on(&ctx, socket, |open| net::getsockopt(&open, sockopt::SocketError))?;
    named(&ctx, if error == 0 { Ok(()) } else { Err(Errno::from_raw(error)) })
}

/// The port in `SO_ORIGINAL_DST` of conntrack, or the local port if nothing redirected the connection.
fn original_port(ctx: Ctx, socket: i32) -> Result<u16> {
    on(&ctx, socket, |open| {
        let own: SockaddrStorage = net::getsockname(open.as_raw_fd())?;
        let found = if own.as_sockaddr_in().is_some() {
            net::getsockopt(&open, sockopt::OriginalDst).map(|end| end.sin_port)
        } else {
            net::getsockopt(&open, sockopt::Ip6tOriginalDst).map(|end| end.sin6_port)
        };
        let own = text_of(&own).map_or(0, |(_, port)| port);
        Ok(found.map_or(own, u16::from_be))
    })
}

/// Makes the kernel drop the first packet of every connection (`tcp_v4_rcv`), by requiring hop limit 255, which packets
/// do not have on arrival. A socket filter would count against the node's memory limit for compiled programs.
fn drop_all(ctx: Ctx, socket: i32) -> Result<()> {
    let most: libc::c_int = 255;
    on(&ctx, socket, |open| {
        let own: SockaddrStorage = net::getsockname(open.as_raw_fd())?;
        let (level, name) = match own.as_sockaddr_in() {
            Some(_) => (libc::IPPROTO_IP, libc::IP_MINTTL),
            None => (libc::IPPROTO_IPV6, libc::IPV6_MINHOPCOUNT),
        };
        let (value, length) = (&raw const most, size_of_val(&most) as u32);
        // SAFETY: the kernel reads one int
        Errno::result(unsafe { libc::setsockopt(open.as_raw_fd(), level, name, value.cast(), length) })
            .map(drop)
    })
}

/// The counter `SK_MEMINFO_DROPS` of `include/uapi/linux/sock_diag.h`.
fn dropped(ctx: Ctx, socket: i32) -> Result<u32> {
    let mut counts = [0u32; 9];
    let mut length = size_of_val(&counts) as u32;
    on(&ctx, socket, |open| {
        // SAFETY: the kernel writes at most `length` bytes
        Errno::result(unsafe {
            libc::getsockopt(
                open.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MEMINFO,
                counts.as_mut_ptr().cast(),
                &raw mut length,
            )
        })
    })?;
    Ok(counts[8])
}

/// The state of the TCP socket with these ends, or of a listener that would get a connection between them.
fn state_at(ctx: Ctx, local: String, local_port: u16, other: String, other_port: u16) -> Result<u8> {
    let state = parse(&local, local_port).and_then(|local| ask_state(local, parse(&other, other_port)?));
    named(&ctx, state)
}

/// Sends an `inet_diag_req_v2` of `include/uapi/linux/inet_diag.h`, which sock_diag(7) describes. The kernel then looks
/// up one socket, whereas a read of `/proc/net/tcp` goes through all connections of the node.
fn ask_state(local: SocketAddr, other: SocketAddr) -> nix::Result<u8> {
    const BY_FAMILY: u16 = 20;
    let mut request = [0u8; 72];
    request[0..4].copy_from_slice(&72u32.to_ne_bytes());
    request[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    request[6..8].copy_from_slice(&(libc::NLM_F_REQUEST as u16).to_ne_bytes());
    request[16] = if local.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 } as u8;
    request[17] = libc::IPPROTO_TCP as u8;
    for (end, port, address) in [(local, 24, 28), (other, 26, 44)] {
        request[port..port + 2].copy_from_slice(&end.port().to_be_bytes());
        match end.ip() {
            IpAddr::V4(ip) => request[address..address + 4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => request[address..address + 16].copy_from_slice(&ip.octets()),
        }
    }
    // `INET_DIAG_NOCOOKIE`
    request[64..72].fill(0xff);
    let answer = ask_kernel(SockProtocol::NetlinkSockDiag, &request)?;
    // in an error answer, this is a byte of the negative error code: 0xff
    answer.get(17).copied().ok_or(Errno::ENOENT)
}

/// The kernel's answer to a request over netlink(7).
pub fn ask_kernel(protocol: SockProtocol, request: &[u8]) -> nix::Result<Vec<u8>> {
    let socket = net::socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
    net::send(socket.as_raw_fd(), request, MsgFlags::empty())?;
    let mut answer = vec![0; 4096];
    // the kernel has answered before `send` returns
    let count = net::recv(socket.as_raw_fd(), &mut answer, MsgFlags::MSG_DONTWAIT)?;
    answer.truncate(count);
    Ok(answer)
}

fn end_of<'js>(
    ctx: Ctx<'js>,
    socket: i32,
    ask: fn(i32) -> nix::Result<SockaddrStorage>,
) -> Result<Object<'js>> {
    let end = on(&ctx, socket, |open| ask(open.as_raw_fd()))?;
    let (address, port) = text_of(&end).unwrap_or((Ipv4Addr::UNSPECIFIED.to_string(), 0));
    let object = Object::new(ctx)?;
    object.set("address", address)?;
    object.set("port", port)?;
    Ok(object)
}

/// The port, and the address without the interface of a link-local address; `None` if `end` is no IP address.
pub fn text_of(end: &SockaddrStorage) -> Option<(String, u16)> {
    if let Some(end) = end.as_sockaddr_in() {
        return Some((end.ip().to_string(), end.port()));
    }
    end.as_sockaddr_in6().map(|end| (end.ip().to_string(), end.port()))
}

/// Parses an address. After an IPv6 address, `%` and an interface may follow.
pub fn parse(text: &str, port: u16) -> nix::Result<SocketAddr> {
    let (address, device) = text.split_once('%').unwrap_or((text, ""));
    let scope = if device.is_empty() { 0 } else { if_nametoindex(device)? };
    match address.parse().map_err(|_| Errno::EINVAL)? {
        IpAddr::V4(address) => Ok(SocketAddrV4::new(address, port).into()),
        IpAddr::V6(address) => Ok(SocketAddrV6::new(address, port, 0, scope).into()),
    }
}
