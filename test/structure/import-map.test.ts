import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import {
  findCycle,
  findUpwardImports,
  findViolations,
  importsOf,
  parseArrows,
  parseLayers,
  RESTRICTED,
  readGraph,
} from './import-map.ts'

const root = path.join(import.meta.dirname, '../..')
const src = path.join(root, 'src')

describe('the import map', () => {
  const architecture = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8')
  const arrows = parseArrows(architecture)
  const graph = readGraph(
    src,
    globSync(['**/*.{ts,mjs}', '../packages/**/*.ts', '../sdk/src/*.ts'], { cwd: src }).sort(),
  )

  it('is the one docs/architecture.md lists', () => {
    assert.deepEqual(findViolations(graph, arrows), [])
  })

  it('leads down from layer to layer', () => {
    const layers = parseLayers(architecture)
    assert.deepEqual(layers.toSorted(), layerFolders())
    assert.deepEqual(findUpwardImports(graph, layers), [])
  })

  it('has no cycle that spans modules', () => {
    assert.equal(findCycle(graph, arrows), undefined)
  })

  it('has no way to a library handle or its database but through access', () => {
    const index = readFileSync(path.join(src, 'libraries/library/index.ts'), 'utf8')
    for (const name of ['Library', 'EditableLibrary', 'OwnedLibrary', 'AdministeredLibrary'])
      assert.doesNotMatch(index, new RegExp(`export \\{[^}]*(?<!type )\\b${name}\\b`))
    for (const name of ['dbOf', 'writersOf', 'storesOf', 'LibraryStores', 'internals'])
      assert.doesNotMatch(index, new RegExp(`\\b${name}\\b`))
  })

  it('has no way to the content and history of a library but through its handle', (t) => {
    const core = readFileSync(path.join(src, 'libraries/library/core.ts'), 'utf8')
    const fieldsOf = (name: string) =>
      new RegExp(`^(?:export )?interface ${name}[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(core)?.[1] ?? ''
    const stores = [...fieldsOf('LibraryStores').matchAll(/^ {2}readonly \w+: (\w+)$/gm)].map(
      ([, type]) => type,
    )
    assert.ok(stores.includes('ObjectStore') && stores.includes('ContentStore'))
    const given = [...fieldsOf('LibraryCore').matchAll(/^ {2}readonly \w+: (.+)$/gm)].map(
      ([, type = '']) => type,
    )
    assert.ok(given.length > 0)
    assert.deepEqual(
      given.filter((type) => stores.some((store) => new RegExp(`\\b${store}\\b`).test(type))),
      [],
    )
    const door = 'libraries/library/for-server.ts'
    const using = [...graph].filter(([file, imports]) => imports.has(door) && !file.endsWith('.test.ts'))
    t.diagnostic(`${using.length} files read libraries without a handle`)
  })

  it('lists no file or module beside access and the operations that does not need it', () => {
    const unused = [...RESTRICTED].flatMap(([door, permitted]) =>
      permitted.filter(
        (one) => ![...graph].some(([file, imports]) => imports.has(door) && `${file}/`.startsWith(`${one}/`)),
      ),
    )
    assert.deepEqual(unused, [])
  })

  it('loads the packages for models in their command alone', () => {
    const sources = [...graph.keys()].map(
      (file) => [file, readFileSync(path.join(src, file), 'utf8')] as const,
    )
    const using = sources.filter(([, source]) => /from '(?:@modelcontextprotocol\/|zod')/.test(source))
    assert.ok(using.length > 0)
    assert.deepEqual(
      using.map(([file]) => file).filter((file) => !file.startsWith('../packages/mcp/')),
      [],
    )
  })

  it('loads other packages in the commands alone, when they are called', () => {
    const loading = [...graph.keys()].filter((file) => {
      if (file.startsWith('../') || file.endsWith('.test.ts')) return false
      const source = readFileSync(path.join(src, file), 'utf8')
      const isCommand = file.startsWith('programs/cli/')
      const pattern = isCommand
        ? /^(?:import|export) (?!type )[^'"]*'[^'"]*\/packages\//m
        : /['"][^'"]*\/(?:packages|sdk)\//
      return pattern.test(source)
    })
    assert.deepEqual(loading, [])
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

/** Folders of `src/`. */
function layerFolders(): string[] {
  return readdirSync(src, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

describe('the check of the import map', () => {
  it('refuses an import of a layer above', () => {
    const graph = new Map([
      ['low/a.ts', new Set(['high/b.ts', 'low/c.ts'])],
      ['high/b.ts', new Set(['low/a.ts'])],
    ])
    assert.deepEqual(findUpwardImports(graph, ['high', 'low']), [
      'low/a.ts imports high/b.ts of a layer above',
    ])
  })

  const arrows = parseArrows(
    '```arrows\nlow ->\nlow/deep -> low\nlibraries/library ->\nhigh -> low libraries/library\ntop.ts -> *\n```',
  )
  const sound = {
    'low/a.ts': [],
    'low/index.ts': ['low/a.ts'],
    'low/deep/index.ts': ['low/index.ts'],
    'libraries/library/for-access.ts': [],
    'libraries/library/for-server.ts': [],
    'high/a.ts': ['low/index.ts'],
    'high/index.ts': ['high/a.ts'],
    'top.ts': ['low/deep/index.ts'],
  }
  const graphOf = (files: Record<string, string[]>) =>
    new Map(Object.entries(files).map(([file, imports]) => [file, new Set(imports)]))
  const readers = RESTRICTED.get('libraries/library/for-server.ts')?.join(' and ')

  const cases: [name: string, files: Record<string, string[]>, violations: string[]][] = [
    ['accepts arrows that are listed', {}, []],
    ['lets a test import any module', { 'low/a.test.ts': ['high/a.ts'] }, []],
    [
      'refuses an arrow that is not listed',
      { 'low/a.ts': ['high/index.ts'] },
      ['low/a.ts imports high/index.ts, but low may not import high'],
    ],
    [
      'refuses a module within a module that is listed on its own',
      { 'high/a.ts': ['low/deep/index.ts'] },
      ['high/a.ts imports low/deep/index.ts, but high may not import low/deep'],
    ],
    [
      'rejects an import past the index.ts of another module',
      { 'high/a.ts': ['low/a.ts'] },
      ['high/a.ts imports low/a.ts instead of low/index.ts'],
    ],
    [
      'refuses a module that is not listed',
      { 'new/a.ts': [] },
      ['new/a.ts is in a module that is not listed'],
    ],
    [
      'rejects an import of the handle constructors outside access',
      { 'high/a.ts': ['libraries/library/for-access.ts'] },
      ['high/a.ts imports libraries/library/for-access.ts, but only sharing/access may'],
    ],
    [
      'rejects a read without a handle in a file that is not listed',
      { 'high/a.ts': ['libraries/library/for-server.ts'] },
      [`high/a.ts imports libraries/library/for-server.ts, but only ${readers} may`],
    ],
    [
      'refuses an import of test code',
      { 'low/a.ts': ['low/b.test.ts'] },
      ['low/a.ts imports the test code low/b.test.ts'],
    ],
  ]
  for (const [name, files, violations] of cases) {
    it(name, () => assert.deepEqual(findViolations(graphOf({ ...sound, ...files }), arrows), violations))
  }

  it('refuses a listed module that does not exist', () => {
    const { 'high/a.ts': _a, 'high/index.ts': _index, ...rest } = sound
    assert.deepEqual(findViolations(graphOf(rest), arrows), ['high is listed but does not exist'])
  })

  it('finds a cycle across modules and names its files', () => {
    const files = { ...sound, 'low/a.ts': ['low/b.ts'], 'low/b.ts': ['high/index.ts'] }
    assert.deepEqual(findCycle(graphOf(files), arrows)?.toSorted(), [
      'high/a.ts',
      'high/a.ts',
      'high/index.ts',
      'low/a.ts',
      'low/b.ts',
      'low/index.ts',
    ])
  })

  it('leaves a cycle within a module alone', () => {
    assert.equal(
      findCycle(graphOf({ ...sound, 'low/a.ts': ['low/b.ts'], 'low/b.ts': ['low/a.ts'] }), arrows),
      undefined,
    )
  })

  const sources: [source: string, imports: string[]][] = [
    ["import { a } from './a.ts'", ['module/a.ts']],
    ["import type {\n  A,\n} from '../other/a.ts'", ['other/a.ts']],
    ['import "./a.ts"', ['module/a.ts']],
    ["export * from './a.ts'", ['module/a.ts']],
    ["const { a } = await import('./a.ts')", ['module/a.ts']],
    ["type A = import('./a.ts').A", ['module/a.ts']],
    ["new Worker(new URL('./worker.ts', import.meta.url))", ['module/worker.ts']],
    ["import fs from 'node:fs'\nimport pino from 'pino'", []],
  ]
  for (const [source, imports] of sources) {
    it(`reads ${JSON.stringify(source)}`, () =>
      assert.deepEqual([...importsOf('module/file.ts', source)], imports))
  }

  it('refuses an import of a computed name', () => {
    assert.throws(() => importsOf('module/file.ts', 'await import(name)'), /computed name/)
  })

  for (const block of ['```arrows\nlow -> a, b\n```', '```arrows\nlow ->\nlow ->\n```', 'no block']) {
    it(`refuses the list ${JSON.stringify(block)}`, () => {
      assert.throws(() => parseArrows(block))
    })
  }
})
