//! Compiles the bundle of checks to QuickJS bytecode, with the engine version that the program contains.

use std::{env, fs, path::Path};

use rquickjs::{Context, Module, Runtime, WriteOptions, WriteOptionsEndianness};

fn main() {
    let bundle = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../dist/host/validator.js");
    println!("cargo::rerun-if-changed={}", bundle.display());
    println!("cargo::rerun-if-changed=build.rs");
    let source = fs::read(&bundle).expect("the bundle: npm run build:host");
    let context = Context::full(&Runtime::new().unwrap()).unwrap();
    let options = WriteOptions {
        // for amd64 and arm64; by default, the bytecode would have the byte order of the machine that builds it
        endianness: WriteOptionsEndianness::Little,
        allow_shared_array_buffer: false,
        object_reference: false,
        strip_source: true,
        strip_debug: true,
    };
    let bytecode = context.with(|ctx| {
        Module::declare(ctx, "validator", source).and_then(|module| module.write(options)).unwrap()
    });
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("validator.bytecode"), bytecode).unwrap();
}
