import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** Where a message appears. */
export type MessageKind = 'start and commands' | 'log' | 'response' | 'carrel doctor'

/** A message that the program can print or send. What is filled in at run time is "…". */
export interface Message {
  readonly text: string
  readonly kind: MessageKind
  /** The source file, relative to the repository. */
  readonly file: string
}

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

const SOURCES = [
  'src/**/*.ts',
  'packages/**/*.ts',
  'src/*.mjs',
  'bin/carrel.cjs',
  'bin/hand-over.cjs',
  'bin/setup.cjs',
]
// Descriptions of commits are content, the client is at other servers too, and schemas describe the API.
const NOT_OF_THE_SERVER =
  /\.(?:test|fixture|contract|schema)\.ts$|\.d\.ts$|test-support|\/client\/|\/openapi\/|commit-messages/
/** Modules whose sentences are sent to clients. */
const RESPONDING =
  /^src\/(?:api|transfer|sync|webdav|http|pages|access|activity|identity|mail|previews|unzip)\//
const LOG_LEVELS = new Set(['info', 'warn', 'error', 'fatal'])
/** Functions that print their argument and end the program, or print it for the operator. */
const PRINTING = new Set(['giveUp', 'console.error', 'console.log', 'say', 'print'])
const DOCTOR = new Set(['fail', 'warn'])
/** Errors of malformed requests, whose message is sent as the response. */
const RESPONSE_ERRORS = new Set(['ProtocolError', 'AccountRuleError', 'RequestError'])
const SHORTEST = 8
/** Properties with text for the list of endpoints and for `--help`. */
const DESCRIPTIONS = new Set(['summary', 'description', 'help', 'meaning'])

/** All messages in the sources of the server, sorted by their text. */
export function collectMessages(root: string): Message[] {
  const found = new Map<string, Message>()
  for (const file of globSync(SOURCES, { cwd: root }).sort()) {
    if (NOT_OF_THE_SERVER.test(file)) continue
    const lang = file.endsWith('.ts') ? 'ts' : 'js'
    const code = readFileSync(path.join(root, file), 'utf8').replace(/^#!.*/, '')
    const usual: MessageKind = RESPONDING.test(file) ? 'response' : 'start and commands'
    walk(parseAst(code, { lang }) as unknown as Node, [], (text, kind = usual) => {
      if (!isSentence(text)) return
      const known = found.get(text)
      // The place that says more takes precedence.
      if (known === undefined || known.kind === 'start and commands') found.set(text, { text, kind, file })
    })
  }
  return [...found.values()].sort((a, b) => a.text.localeCompare(b.text, 'en'))
}

/** Without a kind it is the usual one of the file. */
type Report = (text: string, kind: MessageKind | undefined) => void

function walk(node: Node, classes: readonly string[], report: Report): void {
  const inside = node.type === 'ClassDeclaration' ? [...classes, nameOf(node['id'])] : classes
  const kind = kindOf(node, inside)
  if (kind !== undefined) for (const text of textsOf(kind.texts)) report(text, kind.kind)
  if (node.type === 'Property' && DESCRIPTIONS.has(nameOf(node['key']))) return
  // Sentences that are built in one place and thrown in another.
  for (const text of variantsOf(node)) if (/^[A-Z…"].* .*[a-z)…]\.$/.test(text)) report(text, undefined)
  for (const value of Object.values(node)) {
    const children = Array.isArray(value) ? value : [value]
    for (const child of children) if (isNode(child)) walk(child, inside, report)
  }
}

/** The expressions of a node that are messages. */
function kindOf(
  node: Node,
  classes: readonly string[],
): { kind: MessageKind | undefined; texts: readonly unknown[] } | undefined {
  if (node.type === 'NewExpression') {
    const name = nameOf(node['callee'])
    if (!name.endsWith('Error')) return undefined
    const kind = RESPONSE_ERRORS.has(name) ? 'response' : undefined
    return { kind, texts: listOf(node['arguments']) }
  }
  if (node.type === 'CallExpression') {
    const callee = nameOf(node['callee'])
    const texts = listOf(node['arguments'])
    const [, object = '', method = ''] = /^(?:.*\.)?#?([^.]+)\.(\w+)$/.exec(callee) ?? []
    if (/log(?:ger)?$/i.test(object) && LOG_LEVELS.has(method)) return { kind: 'log', texts }
    if (PRINTING.has(callee)) return { kind: 'start and commands', texts }
    if (DOCTOR.has(callee)) return { kind: 'carrel doctor', texts: texts.slice(1) }
    if (callee === 'super' && classes.at(-1)?.endsWith('Error')) return { kind: undefined, texts }
    return undefined
  }
  if (node.type === 'ArrayExpression') {
    const [status, ...texts] = listOf(node['elements'])
    const isStatus = isNode(status) && typeof status['value'] === 'number' && status['value'] >= 400
    if (isStatus) return { kind: 'response', texts: texts.slice(0, 1) }
  }
  return undefined
}

/** The texts that some expressions can have, if they are written in place. */
function textsOf(expressions: readonly unknown[]): string[] {
  return expressions.flatMap((expression) => (isNode(expression) ? variantsOf(expression) : []))
}

function variantsOf(node: Node): string[] {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? [node['value']] : []
  if (node.type === 'TemplateLiteral') {
    const parts = listOf(node['quasis']).map((part) => (part as { value: { cooked: string } }).value.cooked)
    return [parts.join('…')]
  }
  if (node.type === 'ConditionalExpression') return textsOf([node['consequent'], node['alternate']])
  if (node.type === 'BinaryExpression' && node['operator'] === '+') {
    const sides = [node['left'], node['right']].map((side) => {
      const variants = textsOf([side])
      return variants.length === 0 ? ['…'] : variants
    })
    return (sides[0] ?? []).flatMap((left) => (sides[1] ?? []).map((right) => left + right))
  }
  return []
}

/** `a`, `a.b`, `this.#a.b`. */
function nameOf(value: unknown): string {
  if (!isNode(value)) return ''
  if (value.type === 'Identifier') return String(value['name'])
  if (value.type === 'PrivateIdentifier') return `#${String(value['name'])}`
  if (value.type === 'ThisExpression') return 'this'
  if (value.type === 'Super') return 'super'
  if (value.type === 'MemberExpression') return `${nameOf(value['object'])}.${nameOf(value['property'])}`
  return ''
}

/** Words, not a code or a name. */
function isSentence(text: string): boolean {
  return text.length >= SHORTEST && /[a-z]{2,} [\w…"'`(]/i.test(text)
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}
