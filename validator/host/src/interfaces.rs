//! The network interfaces and their addresses.

use nix::ifaddrs::getifaddrs;
use rquickjs::{Array, Ctx, Object, Result, function::Func};

use crate::errors::named;
use crate::sockets::text_of;

pub fn register(native: &Object) -> Result<()> {
    native.set("interfaces", Func::from(interfaces))
}

/// One entry for each interface's link-layer address, and for each of its addresses, as getifaddrs(3) lists them.
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
