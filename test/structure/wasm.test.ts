import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { buildWasm, findWatFiles, wasmFileOf } from '../../bin/build-wasm.ts'

const root = path.join(import.meta.dirname, '../..')

describe('WebAssembly modules', () => {
  it('are checked in as built from their .wat files', async () => {
    const files = findWatFiles()
    assert.ok(files.length > 0)
    for (const file of files) {
      const checkedIn = readFileSync(wasmFileOf(file))
      assert.deepEqual(checkedIn, await buildWasm(file), `${file}: run npm run build:wasm`)
    }
  })

  it('have a source each', () => {
    const modules = globSync('src/**/*.wasm', { cwd: root }).map((file) => path.join(root, file))
    assert.deepEqual(modules.sort(), findWatFiles().map(wasmFileOf).sort())
  })

  it('are not written as byte literals', () => {
    const literal = /0x00,\s*0x61,\s*0x73,\s*0x6d/i
    const sources = globSync('{src,web/src}/**/*.{ts,tsx,mjs}', { cwd: root })
    assert.deepEqual(
      sources.filter((file) => literal.test(readFileSync(path.join(root, file), 'utf8'))),
      [],
    )
  })
})
