import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { findCycle, findViolations, importsOf, parseArrows, readGraph } from './import-map.ts'

const root = path.join(import.meta.dirname, '../..')
const src = path.join(root, 'src')

describe('the import map', () => {
  const arrows = parseArrows(readFileSync(path.join(root, 'docs/architecture.md'), 'utf8'))
  const graph = readGraph(src, globSync('**/*.{ts,mjs}', { cwd: src }).sort())

  it('is the one docs/architecture.md lists', () => {
    assert.deepEqual(findViolations(graph, arrows), [])
  })

  it('has no cycle that spans rooms', () => {
    assert.equal(findCycle(graph, arrows), undefined)
  })

  it('leads from every import to a file that exists', () => {
    const missing = [...graph].flatMap(([file, imports]) =>
      [...imports]
        .filter((target) => !existsSync(path.join(src, target)))
        .map((target) => `${file} -> ${target}`),
    )
    assert.deepEqual(missing, [])
  })
})

describe('the check of the import map', () => {
  const arrows = parseArrows('```arrows\nlow ->\nlow/deep -> low\nhigh -> low\ntop.ts -> *\n```')
  const sound = {
    'low/a.ts': [],
    'low/deep/a.ts': ['low/a.ts'],
    'high/a.ts': ['low/a.ts'],
    'top.ts': ['low/deep/a.ts'],
  }
  const graphOf = (files: Record<string, string[]>) =>
    new Map(Object.entries(files).map(([file, imports]) => [file, new Set(imports)]))

  const cases: [name: string, files: Record<string, string[]>, violations: string[]][] = [
    ['accepts arrows that are listed', {}, []],
    ['lets a test import any room', { 'low/a.test.ts': ['high/a.ts'] }, []],
    [
      'refuses an arrow that is not listed',
      { 'low/a.ts': ['high/a.ts'] },
      ['low/a.ts imports high/a.ts, but low may not import high'],
    ],
    [
      'refuses a room within a room that is listed on its own',
      { 'high/a.ts': ['low/deep/a.ts'] },
      ['high/a.ts imports low/deep/a.ts, but high may not import low/deep'],
    ],
    ['refuses a room that is not listed', { 'new/a.ts': [] }, ['new/a.ts is in a room that is not listed']],
    [
      'refuses an import of test code',
      { 'low/a.ts': ['low/b.test.ts'] },
      ['low/a.ts imports the test code low/b.test.ts'],
    ],
  ]
  for (const [name, files, violations] of cases) {
    it(name, () => assert.deepEqual(findViolations(graphOf({ ...sound, ...files }), arrows), violations))
  }

  it('refuses a listed room that does not exist', () => {
    const { 'high/a.ts': _gone, ...rest } = sound
    assert.deepEqual(findViolations(graphOf(rest), arrows), ['high is listed but does not exist'])
  })

  it('finds a cycle across rooms and names its files', () => {
    const files = { ...sound, 'low/a.ts': ['low/b.ts'], 'low/b.ts': ['high/a.ts'] }
    assert.deepEqual(
      findCycle(graphOf(files), arrows)?.toSorted(),
      ['high/a.ts', 'high/a.ts', 'low/a.ts', 'low/b.ts'].toSorted(),
    )
  })

  it('leaves a cycle within a room alone', () => {
    assert.equal(
      findCycle(graphOf({ ...sound, 'low/a.ts': ['low/b.ts'], 'low/b.ts': ['low/a.ts'] }), arrows),
      undefined,
    )
  })

  const sources: [source: string, imports: string[]][] = [
    ["import { a } from './a.ts'", ['room/a.ts']],
    ["import type {\n  A,\n} from '../other/a.ts'", ['other/a.ts']],
    ['import "./a.ts"', ['room/a.ts']],
    ["export * from './a.ts'", ['room/a.ts']],
    ["const { a } = await import('./a.ts')", ['room/a.ts']],
    ["type A = import('./a.ts').A", ['room/a.ts']],
    ["new Worker(new URL('./worker.ts', import.meta.url))", ['room/worker.ts']],
    ["import fs from 'node:fs'\nimport pino from 'pino'", []],
  ]
  for (const [source, imports] of sources) {
    it(`reads ${JSON.stringify(source)}`, () =>
      assert.deepEqual([...importsOf('room/file.ts', source)], imports))
  }

  it('refuses an import of a computed name', () => {
    assert.throws(() => importsOf('room/file.ts', 'await import(name)'), /computed name/)
  })

  for (const block of ['```arrows\nlow -> a, b\n```', '```arrows\nlow ->\nlow ->\n```', 'no block']) {
    it(`refuses the list ${JSON.stringify(block)}`, () => {
      assert.throws(() => parseArrows(block))
    })
  }
})
