import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import wabt from 'wabt'

// `npm run build:wasm` compiles each .wat file of src/ to the .wasm file beside it. The .wasm files are checked in, because the server runs
// without the compiler. A structure test compares them with a build.

const root = path.join(import.meta.dirname, '..')

/** The .wat files of the server, relative to the repository. */
export function findWatFiles(): string[] {
  return globSync('src/**/*.wat', { cwd: root }).sort()
}

/** The .wasm file beside a .wat file. */
export function wasmFileOf(watFile: string): string {
  return path.join(root, watFile.replace(/\.wat$/, '.wasm'))
}

/** Compiles a .wat file. Equal sources give equal bytes. */
export async function buildWasm(watFile: string): Promise<Buffer> {
  const compiler = await wabt()
  const module = compiler.parseWat(watFile, readFileSync(path.join(root, watFile), 'utf8'), { simd: true })
  try {
    module.validate()
    return Buffer.from(module.toBinary({}).buffer)
  } finally {
    module.destroy()
  }
}

if (import.meta.main) {
  for (const file of findWatFiles()) writeFileSync(wasmFileOf(file), await buildWasm(file))
}
