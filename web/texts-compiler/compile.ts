import { parse } from '@messageformat/parser'
import type { LanguageInfo, Messages, Signatures } from './messages.ts'

type Tokens = ReturnType<typeof parse>
type Case = Extract<Tokens[number], { cases: unknown }>['cases'][number]
type Token = Case['tokens'][number]

/** What an expression may refer to: the runtime of its language, and the variables of the arguments. */
interface Scope {
  readonly runtime: string
  /** Whether arguments are isolated from the direction of the message. */
  readonly isolates: boolean
  readonly variables: ReadonlyMap<string, string>
}

/**
 * Compiles the messages of a language to a JavaScript module, so that the app needs no parser. Its default export is a function of the runtime of the
 * language and of the one of English, which returns the texts: a string for a message without arguments, else a function of them. A message that
 * the language does not have is the English one. In a language from right to left, the names and numbers that are put into a message are isolated:
 * otherwise `2026 plan (a).pdf` would be shown in another order there.
 */
export function compileMessages(
  messages: Messages,
  english: Messages,
  signatures: Signatures,
  direction: LanguageInfo['direction'] = 'ltr',
): string {
  return `export default (t, e) => (${compileGroup(messages, english, signatures, direction === 'rtl')})\n`
}

function compileGroup(
  messages: Messages,
  english: Messages,
  signatures: Signatures | string | undefined,
  isolates: boolean,
): string {
  const entries = Object.entries(english).map(([key, source]) => {
    const signature = typeof signatures === 'object' ? signatures[key] : signatures
    const own = messages[key]
    if (typeof source !== 'string') {
      return `${JSON.stringify(key)}:${compileGroup(typeof own === 'object' ? own : {}, source, signature, isolates)}`
    }
    const parameters = typeof signature === 'string' ? parametersOf(signature) : []
    const isOwn = typeof own === 'string'
    const scope = isOwn ? { runtime: 't', isolates } : { runtime: 'e', isolates: false }
    return `${JSON.stringify(key)}:${compileMessage(isOwn ? own : source, parameters, scope)}`
  })
  return `{${entries.join(',\n')}}`
}

interface Parameter {
  readonly name: string
  readonly isNumber: boolean
}

/** The parameters that a signature such as `count: number, name` lists. They are strings unless it says otherwise. */
export function parametersOf(signature: string): Parameter[] {
  return signature.split(', ').map((part) => {
    const [name = '', type] = part.split(': ')
    return { name, isNumber: type === 'number' }
  })
}

function compileMessage(
  message: string,
  parameters: readonly Parameter[],
  scope: Omit<Scope, 'variables'>,
): string {
  const letters = parameters.map((_, index) => String.fromCodePoint('a'.codePointAt(0)! + index))
  const names = letters.map((letter) => (letter === 'e' || letter === 't' ? `${letter}1` : letter))
  const variables = new Map(parameters.map(({ name }, index) => [name, names[index] ?? '']))
  const expression = compileTokens(parse(message), { ...scope, variables }, undefined)
  return parameters.length === 0 ? expression : `(${names.join(',')})=>${expression}`
}

/** An expression for the text of tokens. `counted` is the variable that `#` stands for. */
function compileTokens(tokens: readonly Token[], scope: Scope, counted: string | undefined): string {
  const parts = tokens.map((token) => compileToken(token, scope, counted))
  const isPlain = parts.every((part) => typeof part === 'string')
  if (isPlain) return JSON.stringify(parts.join(''))
  const template = parts.map((part) =>
    typeof part === 'string' ? part.replaceAll(/[\\`]|\$(?=\{)/g, '\\$&') : `\${${part.expression}}`,
  )
  return `\`${template.join('')}\``
}

/** Text, or an expression. */
function compileToken(
  token: Token,
  scope: Scope,
  counted: string | undefined,
): string | { expression: string } {
  const { runtime, variables } = scope
  if (token.type === 'content') return token.value
  if (token.type === 'octothorpe') {
    return counted === undefined ? '#' : { expression: `${runtime}.number(${counted})` }
  }
  const variable = variables.get(token.arg)
  if (token.type === 'argument') {
    // The app puts an element in the place of an argument that the signature does not list, such as a link.
    if (variable === undefined) return `{${token.arg}}`
    return { expression: scope.isolates ? `${runtime}.isolate(${variable})` : variable }
  }
  if (variable === undefined) throw new Error(`The argument ${token.arg} is not in the signature`)
  if (token.type === 'function') {
    if (token.key !== 'number' || token.param !== undefined) throw new Error(`Unknown format ${token.key}`)
    return { expression: `${runtime}.number(${variable})` }
  }
  if (token.type === 'selectordinal' || token.pluralOffset) {
    throw new Error(`The app does not know ordinals and offsets`)
  }
  const inside = token.type === 'plural' ? variable : counted
  const cases = token.cases.map(
    ({ key, tokens }) => `${JSON.stringify(key)}:${compileTokens(tokens, scope, inside)}`,
  )
  return { expression: `${runtime}.${token.type}(${variable},{${cases.join(',')}})` }
}
