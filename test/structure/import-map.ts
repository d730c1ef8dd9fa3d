import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Which rooms each room may import, as docs/architecture.md lists them; '*' is any room. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>

/** Reads the fenced block marked `arrows`. Throws on a line it cannot read and on a room named twice. */
export function parseArrows(markdown: string): Arrows {
  const block = /^```arrows\n(.*?)^```$/ms.exec(markdown)?.[1]
  if (block === undefined) throw new Error('there is no fenced block marked "arrows"')
  const arrows = new Map<string, ReadonlySet<string>>()
  for (const line of block.trimEnd().split('\n')) {
    const [, room, targets] = /^([\w./-]+) +->((?: (?:[\w./-]+|\*))*)$/.exec(line) ?? []
    if (room === undefined || targets === undefined) throw new Error(`cannot read the arrow "${line}"`)
    if (arrows.has(room)) throw new Error(`${room} is listed twice`)
    arrows.set(room, new Set(targets.split(' ').filter(Boolean)))
  }
  return arrows
}

/** The room a file belongs to: the longest name in the list that holds it, or holds what it tests. */
export function roomOf(file: string, arrows: Arrows): string | undefined {
  const tested = file.replace(/\.test\.ts$/, '.ts')
  const holding = [...arrows.keys()].filter((room) => tested === room || tested.startsWith(`${room}/`))
  return holding.sort((a, b) => b.length - a.length)[0]
}

/** A file, relative to `src`, and the files of ours it imports. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>

// All our imports end in `.ts`, so any quoted relative path that does is one, whatever the syntax
// around it: import, export from, import(), import type, or the URL of a worker.
const relativeImport = /(['"`])(\.{1,2}\/[^'"`\n]+\.ts)\1/g
const computedImport = /\bimport\(\s*(?!['"\s])/

/** Throws where an import is computed, because nobody could say what it imports. */
export function importsOf(file: string, source: string): Set<string> {
  if (computedImport.test(source)) throw new Error(`${file} imports a computed name`)
  const found = new Set<string>()
  for (const [, , specifier = ''] of source.matchAll(relativeImport)) {
    found.add(path.posix.join(path.posix.dirname(file), specifier))
  }
  return found
}

export function readGraph(src: string, files: readonly string[]): ImportGraph {
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(path.join(src, file), 'utf8'))]))
}

/** Every import the list does not allow, and every room only one of list and code knows. */
export function findViolations(graph: ImportGraph, arrows: Arrows): string[] {
  const violations: string[] = []
  for (const [file, imports] of graph) {
    const room = roomOf(file, arrows)
    if (room === undefined) violations.push(`${file} is in a room that is not listed`)
    if (room === undefined || isTest(file)) continue
    const allowed = arrows.get(room) ?? new Set()
    for (const target of imports) {
      const targetRoom = roomOf(target, arrows)
      if (targetRoom === undefined) violations.push(`${file} imports ${target}, which is in no listed room`)
      else if (isTest(target)) violations.push(`${file} imports the test code ${target}`)
      else if (targetRoom !== room && !allowed.has(targetRoom) && !allowed.has('*')) {
        violations.push(`${file} imports ${target}, but ${room} may not import ${targetRoom}`)
      }
    }
  }
  const inhabited = new Set([...graph.keys()].map((file) => roomOf(file, arrows)))
  for (const [room, targets] of arrows) {
    if (!inhabited.has(room)) violations.push(`${room} is listed but does not exist`)
    for (const target of targets) {
      if (target !== '*' && !arrows.has(target))
        violations.push(`${room} -> ${target} points at no listed room`)
    }
  }
  return violations
}

const isTest = (file: string) => /(\.test|\.contract|(^|\/)test-support)\.ts$/.test(file)

/** A chain of imports that leaves a room and comes back to the file it started from, if there is one. */
export function findCycle(graph: ImportGraph, arrows: Arrows): string[] | undefined {
  for (const [file, imports] of graph) {
    for (const target of imports) {
      if (roomOf(file, arrows) === roomOf(target, arrows)) continue
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
