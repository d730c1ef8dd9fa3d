import { readFileSync } from 'node:fs'
import path from 'node:path'

/** What one file exports and which names it imports from which file. Paths are relative to the repository. */
export interface FileExports {
  readonly exported: ReadonlySet<string>
  /** `*` stands for every export: a namespace import, `export *`, a dynamic import, or the URL of a worker. */
  readonly imported: readonly { readonly file: string; readonly name: string }[]
}

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|type|interface) ([\w$]+)/gm
const exportList = /^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gm
const exportAll = /^export (?:type )?\* (?:as [\w$]+ )?from '([^']+)'/gm
const importClause =
  /^import (?:type )?(?:([\w$]+)(?:, )?)?(?:\{([^}]*)\}|(\* as [\w$]+))? ?(?:from )?'(\.[^']+)'/gm
const dynamicImport = /\b(?:import|new URL)\(\s*'(\.[^']+)'/g

/** Reads the exports and imports of one file. */
export function exportsOf(file: string, source: string): FileExports {
  const exported = new Set<string>()
  const imported: { file: string; name: string }[] = []
  const target = (specifier: string) => path.posix.join(path.posix.dirname(file), specifier)
  for (const [, name = ''] of source.matchAll(declaration)) exported.add(name)
  if (/^export default /m.test(source)) exported.add('default')
  for (const [, list = '', specifier] of source.matchAll(exportList)) {
    for (const { name, alias } of namesIn(list)) {
      exported.add(alias)
      if (specifier !== undefined) imported.push({ file: target(specifier), name })
    }
  }
  for (const [, specifier = ''] of source.matchAll(exportAll)) {
    exported.add('*')
    imported.push({ file: target(specifier), name: '*' })
  }
  for (const [, byDefault, list, namespace, specifier = ''] of source.matchAll(importClause)) {
    if (byDefault !== undefined) imported.push({ file: target(specifier), name: 'default' })
    for (const { name } of namesIn(list ?? '')) imported.push({ file: target(specifier), name })
    if (namespace !== undefined) imported.push({ file: target(specifier), name: '*' })
  }
  for (const [, specifier = ''] of source.matchAll(dynamicImport)) {
    imported.push({ file: target(specifier), name: '*' })
  }
  return { exported, imported }
}

function namesIn(list: string): { name: string; alias: string }[] {
  return list
    .split(',')
    .map((part) => part.trim().replace(/^type /, ''))
    .filter(Boolean)
    .map((part) => {
      const [name = '', alias = name] = part.split(' as ')
      return { name, alias }
    })
}

/** Reads files, each with its exports and imports. */
export function readExports(root: string, files: readonly string[]): Map<string, FileExports> {
  return new Map(files.map((file) => [file, exportsOf(file, readFileSync(path.join(root, file), 'utf8'))]))
}

/** The exports of files below `folder` that no other file imports, as `file: name`. */
export function findUnusedExports(files: ReadonlyMap<string, FileExports>, folder: string): string[] {
  const used = new Set<string>()
  for (const [importer, { imported }] of files) {
    for (const { file, name } of imported) if (file !== importer) used.add(`${file}: ${name}`)
  }
  return [...files].flatMap(([file, { exported }]) =>
    file.startsWith(`${folder}/`) && !used.has(`${file}: *`)
      ? [...exported].map((name) => `${file}: ${name}`).filter((each) => !used.has(each))
      : [],
  )
}
