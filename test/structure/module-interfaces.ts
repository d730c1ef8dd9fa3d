/** The names in the export lists of an `index.ts`. */
export function countExports(source: string): number {
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
  const names = lists.flatMap(([, list = '']) => list.split(',').filter((name) => name.trim() !== ''))
  return names.length + [...source.matchAll(/^export (?!type \{|\{)/gm)].length
}

/** A function, or a method with the name of its class. */
export interface FunctionLength {
  readonly name: string
  readonly lines: number
}

const STATEMENT = /^(?:if|for|while|switch|try|do|else|return|catch|new)\b/
const FUNCTION = /^(?:export )?(?:default )?(?:async )?function\b|=>(?: \(?[{[(]?)?$/
const METHOD = /^(?:(?:async|static|get|set|override|private|readonly) |\*)*#?[\w$]+\([^]*\)(?:: [^]*)? \{$/

/**
 * The functions of a source file that have at least so many lines, the outermost ones. The formatter gives the first and the
 * last line of a function the same indentation, and no line between them a smaller one, so no parser is needed.
 */
export function longFunctions(source: string, least: number): FunctionLength[] {
  const lines = source.split('\n')
  const found: FunctionLength[] = []
  let className = ''
  for (let start = 0; start < lines.length; start++) {
    const line = lines[start] ?? ''
    className = /^(?:export )?(?:abstract )?class (\w+)/.exec(line)?.[1] ?? className
    if (!/[{(]$|=>$/.test(line) || /^\s*[})\]/*]/.test(line)) continue
    const { end, header } = blockAt(lines, start)
    if (end - start + 1 < least || STATEMENT.test(header)) continue
    if (!FUNCTION.test(header) && !METHOD.test(header)) continue
    const name = /function\*? ([\w$]+)|const ([\w$]+)|^(?:\w+ )*?(#?[\w$]+)(?:\(| =|:)/.exec(header)
    const own = name?.[1] ?? name?.[2] ?? name?.[3] ?? 'a function'
    const isMember = /^ {2}\S/.test(line) && className !== ''
    found.push({ name: isMember ? `${className}.${own}` : own, lines: end - start + 1 })
    start = end
  }
  return found
}

/** The last line of what begins in a line, and what stands before its body. */
function blockAt(lines: readonly string[], start: number): { end: number; header: string } {
  const indent = /^ */.exec(lines[start] ?? '')?.[0] ?? ''
  let bodyStart = start
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line === '' || /^\s|^`/.test(line.slice(indent.length))) continue
    if (!line.startsWith(indent))
      return {
        end: at - 1,
        header: lines
          .slice(start, bodyStart + 1)
          .join('\n')
          .trim(),
      }
    if (/[{(]$|=>$/.test(line)) bodyStart = at
    else
      return {
        end: at,
        header: lines
          .slice(start, bodyStart + 1)
          .join('\n')
          .trim(),
      }
  }
  return { end: start, header: '' }
}

/** Folders of a module of which each imports the other, as `a <-> b`. */
export function mutualImports(graph: ReadonlyMap<string, ReadonlySet<string>>, module: string): string[] {
  const folderOf = (file: string) => {
    const [folder = '', ...rest] = file.slice(module.length + 1).split('/')
    return file.startsWith(`${module}/`) && rest.length > 0 ? folder : undefined
  }
  const imports = new Set<string>()
  for (const [file, targets] of graph) {
    const from = file.endsWith('.test.ts') ? undefined : folderOf(file)
    for (const target of targets) {
      const to = folderOf(target)
      if (from !== undefined && to !== undefined && from !== to) imports.add(`${from} ${to}`)
    }
  }
  return [...imports]
    .map((pair) => pair.split(' ') as [string, string])
    .filter(([from, to]) => from < to && imports.has(`${to} ${from}`))
    .map(([from, to]) => `${from} <-> ${to}`)
    .sort()
}
