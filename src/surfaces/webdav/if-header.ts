import { davError } from './responses.ts'

/** More conditions than any client sends. */
const MAX_CONDITIONS = 200

/** One condition of an `If` header (RFC 4918, 10.4): a lock token or an entity tag that must or must not apply. */
type StateCondition =
  | { readonly not: boolean; readonly token: string }
  | { readonly not: boolean; readonly etag: string }

/** Conditions that must all hold for one resource. */
interface ConditionList {
  /** The URL of the resource; undefined for that of the request. */
  readonly resource: string | undefined
  readonly conditions: readonly StateCondition[]
}

/** The state of a resource that conditions refer to. */
export interface ResourceState {
  /** Without quotes. */
  readonly etag: string | undefined
  /** The tokens of all locks that cover it. */
  readonly tokens: ReadonlySet<string>
}

/** A parsed `If` header. It holds if one of its lists does. */
export class IfHeader {
  readonly #lists: readonly ConditionList[]

  private constructor(lists: readonly ConditionList[]) {
    this.#lists = lists
  }

  /** No header is a header without conditions. Throws a refusal. */
  static parse(header: string | undefined): IfHeader {
    return new IfHeader(header === undefined ? [] : parseLists(header))
  }

  get isEmpty(): boolean {
    return this.#lists.length === 0
  }

  /** All tokens it names. Naming a token is how a client submits it. */
  get tokens(): string[] {
    return this.#lists.flatMap(({ conditions }) =>
      conditions.flatMap((one) => ('token' in one ? [one.token] : [])),
    )
  }

  /** `stateOf` is called with the URL of a resource; with undefined for that of the request. */
  async holds(stateOf: (url: string | undefined) => Promise<ResourceState>): Promise<boolean> {
    if (this.isEmpty) return true
    for (const { resource, conditions } of this.#lists) {
      const state = await stateOf(resource)
      if (conditions.every((condition) => applies(condition, state) !== condition.not)) return true
    }
    return false
  }
}

function applies(condition: StateCondition, { etag, tokens }: ResourceState): boolean {
  return 'token' in condition ? tokens.has(condition.token) : condition.etag === etag
}

/** `No-tag-list` or `Tagged-list`: lists in parentheses, each tagged by the URL in front of it. */
function parseLists(header: string): ConditionList[] {
  const lists: ConditionList[] = []
  let resource: string | undefined
  let conditions: StateCondition[] | undefined
  let not = false
  let count = 0
  const lexer = /\s*(?:(\()|(\))|(not)(?=[\s<[])|<([^<>\s]*)>|\[\s*(?:W\/)?"([^"]*)"\s*\]|(\S))/giy
  for (let at = 0; at < header.trimEnd().length; at = lexer.lastIndex) {
    const found = lexer.exec(header)
    const [, opens, closes, negates, url, etag] = found ?? []
    count += 1
    if (count > MAX_CONDITIONS) throw invalid()
    if (opens !== undefined && conditions === undefined) conditions = []
    else if (closes !== undefined && conditions !== undefined && conditions.length > 0 && !not) {
      lists.push({ resource, conditions })
      conditions = undefined
    } else if (negates !== undefined && conditions !== undefined && !not) not = true
    else if (url !== undefined && conditions === undefined) resource = url
    else if (url !== undefined || etag !== undefined) {
      if (conditions === undefined) throw invalid()
      conditions.push(url === undefined ? { not, etag: etag ?? '' } : { not, token: url })
      not = false
    } else throw invalid()
  }
  if (conditions !== undefined || lists.length === 0) throw invalid()
  return lists
}

function invalid(): Error {
  return davError(400, 'The If header is not valid.')
}
