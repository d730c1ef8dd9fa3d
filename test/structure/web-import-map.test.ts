import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import {
  findCycle,
  findUnusedArrows,
  findViolations,
  importsOf,
  moduleOf,
  parseArrows,
  readGraph,
} from './import-map.ts'

const root = path.join(import.meta.dirname, '../..')
const src = path.join(root, 'web/src')

describe('the import map of the web app', () => {
  const arrows = parseArrows(readFileSync(path.join(root, 'docs/architecture.md'), 'utf8'), 'arrows-web')
  const graph = readGraph(src, globSync(['**/*.{ts,tsx}', '../../sdk/src/*.ts'], { cwd: src }).sort())

  it('is the one docs/architecture.md lists, and other modules import only index.ts', () => {
    assert.deepEqual(findViolations(graph, arrows), [])
  })

  it('lists no import that nothing uses', () => {
    assert.deepEqual(findUnusedArrows(graph, arrows), [])
  })

  it('has no cycle that spans modules', () => {
    assert.equal(findCycle(graph, arrows), undefined)
  })

  it('resolves every import to an existing file', () => {
    const missing = [...graph].flatMap(([file, imports]) =>
      [...imports]
        .filter((target) => !existsSync(path.join(src, target)))
        .map((target) => `${file} -> ${target}`),
    )
    assert.deepEqual(missing, [])
  })

  it('has an index.ts in every folder, and nobody imports the index.ts of their own module', () => {
    const folders = [...arrows.keys()].filter((module) => !module.includes('.'))
    assert.deepEqual(
      folders.filter((folder) => !existsSync(path.join(src, folder, 'index.ts'))),
      [],
    )
    const own = [...graph].flatMap(([file, imports]) =>
      imports.has(`${moduleOf(file, arrows)}/index.ts`) ? [file] : [],
    )
    assert.deepEqual(own, [])
  })

  it('splits code within modules: a dynamic import never leaves its module', () => {
    const crossing = [...graph.keys()].flatMap((file) => {
      const source = readFileSync(path.join(src, file), 'utf8')
      const lazy = source.match(/\bimport\([^)]*\)/g) ?? []
      return [...importsOf(file, lazy.join('\n'))].filter(
        (target) => moduleOf(target, arrows) !== moduleOf(file, arrows),
      )
    })
    assert.deepEqual(crossing, [])
  })
})

describe('the check of the web app', () => {
  const arrows = parseArrows('```arrows-web\nlow ->\nhigh -> low\n```', 'arrows-web')
  const graphOf = (files: Record<string, string[]>) =>
    new Map(Object.entries(files).map(([file, imports]) => [file, new Set(imports)]))
  const sound = {
    'low/index.ts': ['low/a.tsx'],
    'low/a.tsx': ['low/a.css'],
    'high/index.ts': ['low/index.ts'],
  }

  it('reads imports of components and style sheets', () => {
    assert.deepEqual(
      [...importsOf('high/a.tsx', "import './a.css'\nimport { B } from '../low/b.tsx'")],
      ['high/a.css', 'low/b.tsx'],
    )
  })

  it('accepts a component and its style sheet', () => {
    assert.deepEqual(findViolations(graphOf(sound), arrows), [])
    assert.deepEqual(findUnusedArrows(graphOf(sound), arrows), [])
  })

  it('rejects a deep import of a component or a style sheet', () => {
    assert.deepEqual(
      findViolations(graphOf({ ...sound, 'high/a.tsx': ['low/a.tsx', 'low/a.css'] }), arrows),
      [
        'high/a.tsx imports low/a.tsx instead of low/index.ts',
        'high/a.tsx imports low/a.css instead of low/index.ts',
      ],
    )
  })

  it('names an allowed import that nothing uses', () => {
    assert.deepEqual(findUnusedArrows(graphOf({ ...sound, 'high/index.ts': [] }), arrows), ['high -> low'])
  })
})
