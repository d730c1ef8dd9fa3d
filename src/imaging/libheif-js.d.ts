// The package has no declarations for this entry. `heic.ts` declares the part that is used.
declare module 'libheif-js/wasm-bundle.js' {
  const libheif: unknown
  export default libheif
}
