// A package of the web app's build: as a dependency of the server's package it would survive `npm prune`.
import { parseAst } from 'rolldown/parseAst'

/** The owning module of each table, as docs/architecture.md lists it. */
export type TableOwners = ReadonlyMap<string, string>

/** Reads the rows `| table | module | content |` of the section "Table owners". Throws on a table listed twice. */
export function parseTableOwners(markdown: string): TableOwners {
  const section = /^## Table owners\n(.*?)^## /ms.exec(markdown)?.[1]
  if (section === undefined) throw new Error('there is no section "Table owners"')
  const owners = new Map<string, string>()
  for (const [, table = '', module = ''] of section.matchAll(/^\| `(\w+)` \| `([\w/-]+)` \|/gm)) {
    if (owners.has(table)) throw new Error(`${table} is listed twice`)
    owners.set(table, module)
  }
  return owners
}

/** A table that a source file names in SQL. */
export interface TableUse {
  readonly table: string
  readonly line: number
}

/** What a source file does in SQL. */
export interface SqlUses {
  readonly uses: readonly TableUse[]
  /** Lines on which the name of a table is computed and not a relation that its owner exports. */
  readonly computed: readonly number[]
}

/** Functions that take the name of a table as an argument. */
const TAKES_TABLE = new Set(['insert', 'insertNew', 'deleteBatch', 'tableBinding'])
/** A subquery of the owning module, by the convention of its name. */
const RELATION = /(?:^r|R)elation$/
const BEFORE_TABLE = /\b(?:from|join|into|update)\s+$/i
/** Stands for an expression in a template. */
const PLACEHOLDER = 'computed_expression'

/**
 * Finds the tables that the SQL of a source file names, in string and template literals. Where the name of a table is
 * computed, every literal of the file that is the name of a table counts.
 */
export function sqlUsesOf(source: string, isTable: (name: string) => boolean): SqlUses {
  const uses: TableUse[] = []
  const computed: number[] = []
  const names: TableUse[] = []
  const lineAt = (position: number) => source.slice(0, position).split('\n').length
  visit(parseAst(source, { lang: 'ts' }), (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') {
      const line = lineAt(node.start)
      if (isTable(node.value)) names.push({ table: node.value, line })
      if (BEFORE_TABLE.test(node.value)) computed.push(line)
      for (const table of tablesIn(node.value)) if (isTable(table)) uses.push({ table, line })
    }
    if (node.type === 'TemplateLiteral') {
      const { text, isComputed } = textOf(node)
      const line = lineAt(node.start)
      if (isComputed) computed.push(line)
      for (const table of tablesIn(text)) if (isTable(table)) uses.push({ table, line })
    }
    if (node.type === 'CallExpression' && TAKES_TABLE.has(calleeOf(node))) {
      for (const argument of node.arguments ?? []) {
        if (argument.type === 'Literal' && isTable(String(argument.value))) {
          uses.push({ table: String(argument.value), line: lineAt(argument.start) })
        }
      }
    }
  })
  return { uses: computed.length > 0 ? [...uses, ...names] : uses, computed }
}

interface Node {
  readonly type: string
  readonly start: number
  readonly value?: unknown
  readonly name?: string
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[]
  readonly expressions?: readonly Node[]
  readonly arguments?: readonly Node[]
  readonly callee?: Node
  readonly property?: Node
}

function visit(node: unknown, enter: (node: Node) => void): void {
  if (Array.isArray(node)) for (const one of node) visit(one, enter)
  else if (typeof node === 'object' && node !== null) {
    if ('type' in node) enter(node as Node)
    for (const value of Object.values(node)) visit(value, enter)
  }
}

function calleeOf({ callee }: Node): string {
  return callee?.name ?? callee?.property?.name ?? ''
}

/** The text of a template, and whether a table is named by an expression that is not a relation. */
function textOf({ quasis = [], expressions = [] }: Node): { text: string; isComputed: boolean } {
  let text = ''
  let isComputed = false
  for (const [index, quasi] of quasis.entries()) {
    text += quasi.value.cooked
    const expression = expressions[index]
    if (expression === undefined) continue
    const name = expression.name ?? expression.property?.name ?? ''
    if (BEFORE_TABLE.test(text) && !RELATION.test(name)) isComputed = true
    text += ` ${PLACEHOLDER} `
  }
  return { text, isComputed }
}

const EXPECTS_TABLE = new Set(['from', 'join', 'into', 'update', 'table', 'using'])
const MODIFIERS = new Set(['only', 'lateral', 'if', 'not', 'exists'])
const ENDS_LIST = new Set([
  'where',
  'on',
  'set',
  'group',
  'order',
  'having',
  'limit',
  'union',
  'values',
  'returning',
  'select',
])

/** The words of a statement that stand where a table does, in lower case. Names of subqueries are among them. */
export function tablesIn(sql: string): string[] {
  const found: string[] = []
  const outer: boolean[] = []
  let isExpected = false
  let inList = false
  for (const token of sql
    .replace(/'[^']*'/g, ' ')
    .toLowerCase()
    .match(/"?\w+"?|[^\s\w]/g) ?? []) {
    const word = token.replaceAll('"', '')
    if (word === '(') {
      outer.push(inList)
      inList = isExpected
    } else if (word === ')') {
      inList = outer.pop() ?? false
      isExpected = false
    } else if (word === ',') isExpected = inList
    else if (!/\w/.test(word)) isExpected = false
    else if (EXPECTS_TABLE.has(word)) {
      isExpected = true
      inList = word === 'from' || word === 'join'
    } else if (ENDS_LIST.has(word)) {
      isExpected = false
      inList = false
    } else if (isExpected && !MODIFIERS.has(word)) {
      found.push(word)
      isExpected = false
    }
  }
  return found
}
