import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { readGraph } from './import-map.ts'
import { countExports, longFunctions, mutualImports } from './module-interfaces.ts'

const root = path.join(import.meta.dirname, '../..')
const src = path.join(root, 'src')
const read = (file: string) => readFileSync(path.join(src, file), 'utf8')

/** The most names of an interface, and the most lines of a function. */
const MOST_EXPORTS = 40
const MOST_LINES = 80
/** The most services that the calls of a resource get. */
const MOST_SERVICES = 16

/** Modules that export more. The numbers may only fall; a module that gets below 40 leaves the list. */
const WIDE: Readonly<Record<string, number>> = {}

describe('The modules of the server', () => {
  it(`have interfaces of at most ${MOST_EXPORTS} names, or no more than are listed`, (t) => {
    const counts = globSync('**/index.ts', { cwd: src })
      .map((file) => [path.dirname(file), countExports(read(file))] as const)
      .filter(([module]) => module.split('/').length === 2)
      .sort(([, a], [, b]) => b - a)
    for (const [module, count] of counts.slice(0, 15)) t.diagnostic(`${module}: ${count} exports`)
    assert.deepEqual(
      Object.fromEntries(counts.filter(([module, count]) => count > MOST_EXPORTS || module in WIDE)),
      WIDE,
    )
  })

  it(`have functions of at most ${MOST_LINES} lines, but for migrations, which are never edited`, (t) => {
    const long = globSync('**/*.ts', { cwd: src })
      .filter((file) => !/\.(?:test|contract|d)\.ts$|^platform\/database\/migrations\//.test(file))
      .map((file) => ({ file, source: read(file) }))
      .filter(({ source }) => source.split('\n').length > MOST_LINES)
      .flatMap(({ file, source }) =>
        longFunctions(source, MOST_LINES + 1).map(({ name, lines }) => [`${file}: ${name}`, lines] as const),
      )
      .sort(([, a], [, b]) => b - a)
    for (const [name, lines] of long) t.diagnostic(`${name}: ${lines} lines`)
    assert.deepEqual(long, [])
  })

  it(`of the web API have calls that get at most ${MOST_SERVICES} services`, (t) => {
    const counts = globSync('surfaces/api/*/services.ts', { cwd: src })
      .flatMap((file) => [...read(file).matchAll(/^export interface (\w+) \{\n(.*?)^\}/gms)])
      .map(([, name = '', fields = '']) => [name, fields.match(/^ {2}readonly /gm)?.length ?? 0] as const)
      .sort(([, a], [, b]) => b - a)
    for (const [name, count] of counts) t.diagnostic(`${name}: ${count} services`)
    assert.ok(counts.length > 0)
    assert.deepEqual(
      counts.filter(([, count]) => count > MOST_SERVICES),
      [],
    )
  })

  it('of the web API have folders that import one way', () => {
    const graph = readGraph(src, globSync('surfaces/api/**/*.ts', { cwd: src }))
    assert.deepEqual(mutualImports(graph, 'surfaces/api'), [])
  })
})

describe('The check of the interfaces', () => {
  it('counts the names of lists and single declarations', () => {
    const source =
      "export { a, type B } from './a.ts'\nexport type {\n  C,\n} from './c.ts'\nexport const d = 1\nconst e = 2\n"
    assert.equal(countExports(source), 4)
  })

  it('measures functions, methods and arrows, and names them', () => {
    const body = (indent: string, count: number) => `\n${`${indent}  x()\n`.repeat(count - 2)}${indent}}`
    const source = [
      `function f(\n  a: string,\n): void {${body('', 3)}`,
      `class C {\n  async m() {${body('  ', 4)}\n  n() {${body('  ', 2)}\n}`,
      `export const g = async () => {${body('', 5)}`,
      `const values = {${body('', 6)}`,
    ].join('\n')
    assert.deepEqual(longFunctions(source, 3), [
      { name: 'f', lines: 5 },
      { name: 'C.m', lines: 4 },
      { name: 'g', lines: 5 },
    ])
  })

  it('finds folders that import each other', () => {
    const graph = new Map([
      ['api/a/x.ts', new Set(['api/b/y.ts'])],
      ['api/b/z.ts', new Set(['api/a/x.ts', 'api/c/w.ts'])],
      ['api/c/w.test.ts', new Set(['api/b/z.ts'])],
    ])
    assert.deepEqual(mutualImports(graph, 'api'), ['a <-> b'])
  })
})
