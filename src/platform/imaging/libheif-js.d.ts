// The package has no declarations for this entry. `heic.ts` declares the part that is used.
declare module 'libheif-js/libheif-wasm/libheif.js' {
  export default function create(options: { readonly wasmBinary: Uint8Array }): unknown
}
