import { parse } from '@messageformat/parser'
import { parametersOf } from './compile.ts'
import type { Messages, Signatures } from './messages.ts'

type Tokens = ReturnType<typeof parse>
type Token = Extract<Tokens[number], { cases: unknown }>['cases'][number]['tokens'][number]

/** What is wrong with the messages of a language, by key. */
export interface Findings {
  /** Keys of English that the language does not have. The app shows them in English. */
  readonly missing: readonly string[]
  /** Everything else: a sentence each. */
  readonly problems: readonly string[]
}

/** Compares the messages of a language with the English ones and with the rules of its plurals. */
export function checkMessages(
  language: string,
  messages: Messages,
  english: Messages,
  signatures: Signatures,
): Findings {
  const own = flatten(messages)
  const source = flatten(english)
  const problems = [...own.keys()]
    .filter((key) => !source.has(key))
    .map((key) => `${key}: English has no such key`)
  for (const [key, message] of own) {
    const original = source.get(key)
    if (original === undefined) continue
    const signature = signatureOf(key, signatures)
    problems.push(
      ...problemsOf(language, message, original, signature).map((problem) => `${key}: ${problem}`),
    )
  }
  return { missing: [...source.keys()].filter((key) => !own.has(key)), problems }
}

/** Messages by keys such as `files.moved`. */
export function flatten(messages: Messages, prefix = ''): Map<string, string> {
  const flat = new Map<string, string>()
  for (const [key, value] of Object.entries(messages)) {
    if (typeof value === 'string') flat.set(prefix + key, value)
    else for (const [inner, message] of flatten(value, `${prefix}${key}.`)) flat.set(inner, message)
  }
  return flat
}

function signatureOf(key: string, signatures: Signatures): string | undefined {
  let found: string | Signatures | undefined = signatures
  for (const part of key.split('.')) {
    if (typeof found !== 'object') break
    found = found[part]
  }
  return typeof found === 'string' ? found : undefined
}

function problemsOf(
  language: string,
  message: string,
  original: string,
  signature: string | undefined,
): string[] {
  // The apostrophe quotes braces in ICU messages, so one before an argument would show its name.
  if (message.includes("'")) return ['use ’ instead of an ASCII apostrophe']
  if (message.trim() === '' || message !== message.trim()) return ['is empty, or has spaces around it']
  const cardinal = new Intl.PluralRules(language).resolvedOptions().pluralCategories
  let tokens: Tokens
  try {
    tokens = parse(message, { cardinal, strict: true })
  } catch (error) {
    return [error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)]
  }
  return [...argumentProblems(tokens, parse(original), signature), ...pluralProblems(language, tokens)]
}

function argumentProblems(tokens: Tokens, original: Tokens, signature: string | undefined): string[] {
  const parameters = signature === undefined ? [] : parametersOf(signature)
  const numbers = new Set(parameters.filter(({ isNumber }) => isNumber).map(({ name }) => name))
  const own = argumentsIn(tokens)
  const expected = argumentsIn(original)
  const known = new Set([...expected.keys(), ...numbers])
  const missing = [...expected.keys()].filter((name) => !own.has(name) && !numbers.has(name))
  const unknown = [...own.keys()].filter((name) => !known.has(name))
  // A number that is written as it is has no separators, and a string cannot decide a plural.
  const misused = [...own].filter(([name, kinds]) => {
    if (numbers.has(name)) return kinds.has('argument')
    return kinds.has('plural') || kinds.has('function')
  })
  return [
    ...missing.map((name) => `lacks the argument {${name}}`),
    ...unknown.map((name) => `has an unknown argument {${name}}`),
    ...misused.map(([name]) => `uses {${name}} with the wrong type`),
  ]
}

/** Names of the arguments, each with the types of the tokens that use it. */
function argumentsIn(
  tokens: readonly Token[],
  found = new Map<string, Set<string>>(),
): Map<string, Set<string>> {
  for (const token of tokens) {
    if (!('arg' in token)) continue
    found.set(token.arg, (found.get(token.arg) ?? new Set()).add(token.type))
    if ('cases' in token) for (const { tokens } of token.cases) argumentsIn(tokens, found)
  }
  return found
}

/** Every whole number must have a case of its own category or of exactly its value. */
function pluralProblems(language: string, tokens: readonly Token[]): string[] {
  const rules = new Intl.PluralRules(language)
  const samples = [...Array.from({ length: 200 }, (_, value) => value), 1000, 100_000, 1_000_000, 2_000_000]
  return tokens.flatMap((token) => {
    if (!('cases' in token)) return []
    const keys = new Set(token.cases.map(({ key }) => key))
    const inner = token.cases.flatMap(({ tokens }) => pluralProblems(language, tokens))
    if (token.type !== 'plural') return inner
    const uncovered = samples.filter((value) => !keys.has(`=${value}`) && !keys.has(rules.select(value)))
    const categories = new Set(uncovered.map((value) => rules.select(value)))
    return [...inner, ...[...categories].map((category) => `lacks the plural case ${category}`)]
  })
}
