import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { exportsOf, findUnusedExports, readExports } from './unused-exports.ts'

const root = path.join(import.meta.dirname, '../..')

describe('exports', () => {
  const patterns = ['{src,packages,sdk/src,bin,bench,test}/**/*.{ts,mjs}', 'web/src/**/*.{ts,tsx}']
  const files = readExports(root, globSync(patterns, { cwd: root }).sort())

  it('of the server are all imported somewhere', () => {
    assert.deepEqual(findUnusedExports(files, 'src'), [])
  })

  it('are of files that the programs load: helpers of tests are in test/', () => {
    const sources = globSync(['src/**/*.{ts,mjs}', 'packages/**/*.ts', 'bin/*.ts'], { cwd: root })
    const loaded = new Set(
      sources
        .filter((file) => !file.endsWith('.test.ts'))
        .flatMap((file) =>
          Array.from(
            readFileSync(path.join(root, file), 'utf8').matchAll(
              /['"`](\.{1,2}\/[^'"`\n]+\.(?:ts|mjs))['"`]/g,
            ),
            ([, target = '']) => path.posix.join(path.posix.dirname(file), target),
          ),
        ),
    )
    // Workers of a sandbox are named by their path.
    const named = /(?:main|index)\.\w+$|\.d\.ts$|\.test\.ts$|^src\/platform\/workers\/runtime\//
    assert.deepEqual(
      sources.filter((file) => file.startsWith('src/') && !named.test(file) && !loaded.has(file)),
      [],
    )
  })

  it('of the other packages are all imported somewhere', () => {
    assert.deepEqual(findUnusedExports(files, 'packages'), [])
  })

  it('of the SDK are all imported somewhere', () => {
    assert.deepEqual(findUnusedExports(files, 'sdk/src'), [])
  })

  it('of the web app are all imported somewhere', () => {
    assert.deepEqual(findUnusedExports(files, 'web/src'), [])
  })
})

describe('the search for unused exports', () => {
  const unused = (sources: Record<string, string>) =>
    findUnusedExports(
      new Map(Object.entries(sources).map(([file, source]) => [file, exportsOf(file, source)])),
      'a',
    )

  const declarations = [
    'export const x = 1',
    'export function x() {}',
    'export async function x() {}',
    'export class x {}',
    'export interface x {}',
    'export type x = string',
    'const y = 1\nexport { y as x }',
  ]
  for (const source of declarations) {
    it(`finds ${JSON.stringify(source)}`, () => {
      assert.deepEqual(unused({ 'a/b.ts': source }), ['a/b.ts: x'])
    })
  }

  const uses = [
    "import { x } from './b.ts'",
    "import { y, x as z } from './b.ts'",
    "import {\n  type x,\n} from './b.ts'",
    "import type { x } from './b.ts'",
    "import * as all from './b.ts'",
    "const { x } = await import('./b.ts')",
  ]
  for (const source of uses) {
    it(`accepts ${JSON.stringify(source)} as a use`, () => {
      assert.deepEqual(unused({ 'a/b.ts': 'export const x = 1', 'a/c.ts': source }), [])
    })
  }

  it('counts a default import as a use of the default export', () => {
    const sources = { 'a/b.ts': 'export default 1\nexport const x = 1', 'a/c.ts': "import B from './b.ts'" }
    assert.deepEqual(unused(sources), ['a/b.ts: x'])
  })

  it('reports a re-export that nobody imports', () => {
    const sources = { 'a/b.ts': 'export const x = 1', 'a/index.ts': "export { x } from './b.ts'" }
    assert.deepEqual(unused(sources), ['a/index.ts: x'])
  })

  it('ignores a use in the file itself', () => {
    assert.deepEqual(unused({ 'a/b.ts': "export const x = 1\nimport { x as y } from './b.ts'" }), [
      'a/b.ts: x',
    ])
  })
})
