//! UDP, and the ICMP answers of routers and hosts from the error queue of ip(7) and ipv6(7). Needs no privilege.

use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{self as net, ControlMessageOwned, MsgFlags, SockType, SockaddrStorage, sockopt};
use rquickjs::{Array, Ctx, Object, Result, TypedArray, function::Func};

use crate::descriptors::{bytes_of, keep, named, on, with};
use crate::sockets::{open, parse};

pub fn register(native: &Object) -> Result<()> {
    native.set("datagrams", Func::from(datagrams))?;
    native.set("sendTo", Func::from(send_to))?;
    native.set("queued", Func::from(queued))?;
    native.set("icmpErrors", Func::from(icmp_errors))
}

fn datagrams(ctx: Ctx, family: u8) -> Result<i32> {
    named(&ctx, open(family, SockType::Datagram, true)).map(keep)
}

fn send_to<'js>(
    ctx: Ctx<'js>,
    socket: i32,
    bytes: TypedArray<'js, u8>,
    address: String,
    port: u16,
    hops: i32,
) -> Result<usize> {
    let bytes = bytes_of(&bytes);
    on(&ctx, socket, |open| {
        let to = parse(&address, port)?;
        if to.is_ipv6() {
            net::setsockopt(&open, sockopt::Ipv6Ttl, &hops)?;
        } else {
            net::setsockopt(&open, sockopt::Ipv4Ttl, &hops)?;
        }
        // clears the pending error of an earlier answer, which `sendto` would report instead of sending
        net::getsockopt(&open, sockopt::SocketError)?;
        net::sendto(open.as_raw_fd(), &bytes, &SockaddrStorage::from(to), MsgFlags::MSG_NOSIGNAL)
    })
}

/// Bytes that have not left the machine yet, including those that wait for a neighbour's link-layer address.
fn queued(ctx: Ctx, socket: i32) -> Result<i32> {
    let mut count: libc::c_int = 0;
    on(&ctx, socket, |open| {
        // SAFETY: `SIOCOUTQ` of udp(7), which is `TIOCOUTQ`, writes one int
        Errno::result(unsafe { libc::ioctl(open.as_raw_fd(), libc::TIOCOUTQ, &mut count) })
    })?;
    Ok(count)
}

/// The error queue: type and code of each ICMP message, its sender, and the part of our datagram that it quotes.
fn icmp_errors(ctx: Ctx<'_>, socket: i32) -> Result<Array<'_>> {
    let list = Array::new(ctx.clone())?;
    // SAFETY: the buffer has the size of a control message with these types
    let mut control = nix::cmsg_space!(libc::sock_extended_err, libc::sockaddr_in6);
    loop {
        let mut quoted = [0; 512];
        let read = with(socket, |open| {
            let mut parts = [std::io::IoSliceMut::new(&mut quoted)];
            let message = net::recvmsg::<SockaddrStorage>(
                open.as_raw_fd(),
                &mut parts,
                Some(&mut control),
                MsgFlags::MSG_ERRQUEUE,
            )?;
            let error = message.cmsgs()?.find_map(|message| match message {
                ControlMessageOwned::Ipv4RecvErr(error, from) => {
                    Some((error, from.map(|from| net::SockaddrIn::from(from).ip().to_string())))
                }
                ControlMessageOwned::Ipv6RecvErr(error, from) => {
                    Some((error, from.map(|from| net::SockaddrIn6::from(from).ip().to_string())))
                }
                _ => None,
            });
            Ok((message.bytes, error))
        });
        let (count, Some((error, from))) = (match read {
            Err(Errno::EAGAIN) => return Ok(list),
            read => named(&ctx, read)?,
        }) else {
            continue;
        };
        // the error comes from this machine's kernel and not from an ICMP message, so it has no sender
        if error.ee_origin != libc::SO_EE_ORIGIN_ICMP && error.ee_origin != libc::SO_EE_ORIGIN_ICMP6 {
            continue;
        }
        let object = Object::new(ctx.clone())?;
        object.set("type", error.ee_type)?;
        object.set("code", error.ee_code)?;
        object.set("from", from)?;
        object.set("quoted", TypedArray::new(ctx.clone(), quoted[..count].to_vec())?)?;
        list.set(list.len(), object)?;
    }
}
