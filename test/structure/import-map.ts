import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Which modules each module may import, as docs/architecture.md lists them; '*' is any module. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>

/** Reads the fenced block marked `mark`. Throws on a line it cannot read and on a module named twice. */
export function parseArrows(markdown: string, mark = 'arrows'): Arrows {
  const block = new RegExp(`^\`\`\`${mark}\\n(.*?)^\`\`\`$`, 'ms').exec(markdown)?.[1]
  if (block === undefined) throw new Error(`there is no fenced block marked "${mark}"`)
  const arrows = new Map<string, ReadonlySet<string>>()
  for (const line of block.trimEnd().split('\n')) {
    const [, module, targets] = /^([\w./-]+) +->((?: (?:[\w./-]+|\*))*)$/.exec(line) ?? []
    if (module === undefined || targets === undefined) throw new Error(`cannot read the arrow "${line}"`)
    if (arrows.has(module)) throw new Error(`${module} is listed twice`)
    arrows.set(module, new Set(targets.split(' ').filter(Boolean)))
  }
  return arrows
}

/** The module a file belongs to: the longest name in the list that holds it, or holds what it tests. */
export function moduleOf(file: string, arrows: Arrows): string | undefined {
  const tested = file.replace(/\.test\.ts$/, '.ts')
  const holding = [...arrows.keys()].filter((module) => tested === module || tested.startsWith(`${module}/`))
  return holding.sort((a, b) => b.length - a.length)[0]
}

/** A file, relative to the root of the sources, and the files of ours it imports. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>

// All our imports end in `.ts`, `.tsx` or `.css`, so any quoted relative path that does is one, whatever the
// syntax around it: import, export from, import(), import type, or the URL of a worker.
const relativeImport = /(['"`])(\.{1,2}\/[^'"`\n]+\.(?:tsx?|css))\1/g
const computedImport = /\bimport\(\s*(?!['"\s])/

/** Throws where an import is computed, because nobody could say what it imports. */
export function importsOf(file: string, source: string): Set<string> {
  if (computedImport.test(source)) throw new Error(`${file} imports a computed name`)
  const found = new Set<string>()
  for (const [, , specifier = ''] of source.matchAll(relativeImport)) {
    // A package beside `src/` names a file of it by that folder.
    found.add(path.posix.join(path.posix.dirname(file), specifier).replace(/^\.\.\/src\//, ''))
  }
  return found
}

export function readGraph(src: string, files: readonly string[]): ImportGraph {
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(path.join(src, file), 'utf8'))]))
}

/** Every import the list does not allow, and every module only one of list and code knows. */
export function findViolations(graph: ImportGraph, arrows: Arrows): string[] {
  const violations: string[] = []
  for (const [file, imports] of graph) {
    const module = moduleOf(file, arrows)
    if (module === undefined) violations.push(`${file} is in a module that is not listed`)
    if (module === undefined || isTest(file)) continue
    const allowed = arrows.get(module) ?? new Set()
    for (const target of imports) {
      const targetModule = moduleOf(target, arrows)
      if (targetModule === undefined)
        violations.push(`${file} imports ${target}, which is in no listed module`)
      else if (isTest(target)) violations.push(`${file} imports the test code ${target}`)
      else if (targetModule !== module && !allowed.has(targetModule) && !allowed.has('*')) {
        violations.push(`${file} imports ${target}, but ${module} may not import ${targetModule}`)
      } else if (targetModule !== module && RESTRICTED.has(target)) {
        const permitted = RESTRICTED.get(target) ?? []
        if (!permitted.some((one) => one === module || one === file))
          violations.push(`${file} imports ${target}, but only ${permitted.join(' and ')} may`)
      } else if (targetModule !== module && !isPublic(target, targetModule) && !ENTRY_POINTS.has(file)) {
        violations.push(`${file} imports ${target} instead of ${targetModule}/index.ts`)
      }
    }
  }
  const inhabited = new Set([...graph.keys()].map((file) => moduleOf(file, arrows)))
  for (const [module, targets] of arrows) {
    if (!inhabited.has(module)) violations.push(`${module} is listed but does not exist`)
    for (const target of targets) {
      if (target !== '*' && !arrows.has(target))
        violations.push(`${module} -> ${target} points at no listed module`)
    }
  }
  return violations
}

/** The layers that docs/architecture.md draws, the topmost first. */
export function parseLayers(markdown: string): string[] {
  const block = /^```layers\n(.*?)^```$/ms.exec(markdown)?.[1] ?? ''
  return [...block.matchAll(/^(\w+) /gm)].map(([, layer = '']) => layer)
}

/** Every import of a file in a layer above. */
export function findUpwardImports(graph: ImportGraph, layers: readonly string[]): string[] {
  const heightOf = (file: string) => layers.length - layers.indexOf(layerOf(file))
  return [...graph].flatMap(([file, imports]) =>
    isTest(file) || !layers.includes(layerOf(file))
      ? []
      : [...imports]
          .filter((target) => layers.includes(layerOf(target)) && heightOf(target) > heightOf(file))
          .map((target) => `${file} imports ${target} of a layer above`),
  )
}

const layerOf = (file: string) => file.slice(0, file.indexOf('/'))

/** Allowed imports that no file uses. */
export function findUnusedArrows(graph: ImportGraph, arrows: Arrows): string[] {
  const used = new Set<string>()
  for (const [file, imports] of graph) {
    for (const target of imports) used.add(`${moduleOf(file, arrows)} -> ${moduleOf(target, arrows)}`)
  }
  return [...arrows].flatMap(([module, targets]) =>
    [...targets]
      .map((target) => `${module} -> ${target}`)
      .filter((arrow) => !arrow.endsWith('*') && !used.has(arrow)),
  )
}

/**
 * Second public interfaces, for few modules and files: only `access` can make a library handle, only operations on handles have the database, and what
 * has no handle reads libraries by their keys in these places alone. None of them answers a request with what it reads.
 */
export const RESTRICTED = new Map([
  ['libraries/library/for-access.ts', ['sharing/access']],
  ['libraries/library/for-operations.ts', ['libraries/attributes', 'libraries/edits', 'libraries/push']],
  [
    'libraries/library/for-server.ts',
    [
      'derived/activity/activity-consumer.ts',
      'derived/annotations/missing-files.ts',
      'derived/photos/details-queue.ts',
      'derived/photos/photo-index.ts',
      'derived/search/reindexing.ts',
      'derived/search/search-index.ts',
      'derived/search/text-queue.ts',
      'maintenance/gc',
      'maintenance/repair',
      'programs/assembly',
      'programs/cli',
      'programs/server',
    ],
  ],
])

/**
 * Files that start a program and may load single files: the server's, to load no more than a command needs, and the web
 * app's, to load the shared style sheet first.
 */
const ENTRY_POINTS = new Set(['main.mjs', 'main.tsx', 'link.tsx'])

/** Other modules import a module through its `index.ts`. A module of one file is that file. */
const isPublic = (target: string, module: string) => target === module || target === `${module}/index.ts`

const isTest = (file: string) => file.endsWith('.test.ts')

/** A chain of imports that leaves a module and comes back to the file it started from, if there is one. */
export function findCycle(graph: ImportGraph, arrows: Arrows): string[] | undefined {
  for (const [file, imports] of graph) {
    for (const target of imports) {
      if (moduleOf(file, arrows) === moduleOf(target, arrows)) continue
      const back = findChain(graph, target, file)
      if (back !== undefined) return [file, ...back]
    }
  }
  return undefined
}

function findChain(graph: ImportGraph, from: string, to: string): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]])
  for (const file of cameFrom.keys()) {
    if (file === to) {
      const chain: string[] = []
      for (let at: string | undefined = to; at !== undefined; at = cameFrom.get(at)) chain.unshift(at)
      return chain
    }
    for (const target of graph.get(file) ?? []) {
      if (!cameFrom.has(target)) cameFrom.set(target, file)
    }
  }
  return undefined
}
