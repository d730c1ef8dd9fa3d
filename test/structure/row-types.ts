import { readFileSync } from 'node:fs'
import path from 'node:path'
// A package of the web app's build, as in table-owners.ts.
import { parseAst } from 'rolldown/parseAst'

/** A node of the syntax tree. The fields depend on its type. */
// oxlint-disable-next-line typescript/no-explicit-any
type Node = any

/** What a field of a row may be; `any` if the program does not say it in a way that is understood here. */
export type Kind = 'number' | 'string' | 'bytes' | 'null' | 'any'

/** A query of the program with the row type it declares. */
export interface TypedQuery {
  /** Relative to the root, with the line. */
  readonly place: string
  /** The possible texts, with GAP for each part that is only known at runtime. */
  readonly texts: readonly string[]
  readonly fields: ReadonlyMap<string, ReadonlySet<Kind>>
}

/** A part of a statement that is only known at runtime, for example the marks of a list. */
export const GAP = '\u0001'
const MOST_TEXTS = 24

interface File {
  readonly name: string
  readonly source: string
  readonly program: Node
  /** Functions and blocks that declare names, innermost last for any position. */
  readonly scopes: readonly { start: number; end: number; names: Map<string, Declared> }[]
}

interface Declared {
  readonly kind: 'value' | 'function' | 'parameter'
  readonly node: Node
  /** Of a parameter: its function and its position. */
  readonly of?: Node
  readonly index?: number
}

/** The values of parameters in the call that is looked into. */
type Bound = ReadonlyMap<Node, { readonly node: Node; readonly in: Context }>
interface Context {
  readonly file: File
  readonly bound: Bound
  readonly depth: number
}

/** Reads the queries of a program: calls of `get` and `all` with a row type. */
export class TypedQueries {
  readonly #root: string
  readonly #files = new Map<string, File>()

  constructor(root: string) {
    this.#root = root
  }

  of(name: string): TypedQuery[] {
    const file = this.#file(name)
    const found: TypedQuery[] = []
    walk(file.program, (node) => {
      const type = node.typeArguments?.params?.[0]
      const isQuery = node.type === 'CallExpression' && ['get', 'all'].includes(node.callee.property?.name)
      if (!isQuery || type === undefined || node.arguments.length === 0) return
      const fields = this.#fields(type, file)
      if (fields === undefined || fields.size === 0) return
      const context = { file, bound: new Map(), depth: 0 }
      const line = file.source.slice(0, node.start).split('\n').length
      found.push({ place: `${name}:${line}`, texts: this.#texts(node.arguments[0], context), fields })
    })
    return found
  }

  #file(name: string): File {
    const known = this.#files.get(name)
    if (known !== undefined) return known
    const source = readFileSync(path.join(this.#root, name), 'utf8')
    const program: Node = parseAst(source, { lang: 'ts' })
    const file = { name, source, program, scopes: scopesOf(program) }
    this.#files.set(name, file)
    return file
  }

  /** The texts that an expression may have. */
  #texts(node: Node, context: Context): string[] {
    const { file, bound, depth } = context
    const inner = { ...context, depth: depth + 1 }
    if (node === undefined || depth > 12) return [GAP]
    switch (node.type) {
      case 'Literal':
        return [String(node.value)]
      case 'TemplateLiteral': {
        const parts: string[][] = node.quasis.flatMap((quasi: Node, at: number) => {
          const expression = node.expressions[at]
          return expression === undefined
            ? [[quasi.value.cooked]]
            : [[quasi.value.cooked], this.#texts(expression, inner)]
        })
        return joined(parts)
      }
      case 'BinaryExpression':
        return node.operator === '+'
          ? joined([this.#texts(node.left, inner), this.#texts(node.right, inner)])
          : [GAP]
      case 'ConditionalExpression':
        return [...this.#texts(node.consequent, inner), ...this.#texts(node.alternate, inner)]
      case 'LogicalExpression':
        return [...this.#texts(node.left, inner), ...this.#texts(node.right, inner)]
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'ParenthesizedExpression':
        return this.#texts(node.expression, inner)
      case 'MemberExpression':
        return this.#members(node, inner)
      case 'CallExpression':
        return this.#called(node, inner)
      case 'Identifier': {
        const found = declaredAt(file, node.name, node.start)
        if (found?.kind === 'value') return this.#texts(found.node, inner)
        if (found?.kind === 'parameter') {
          const given = bound.get(found.node)
          if (given !== undefined) return this.#texts(given.node, { ...given.in, depth: depth + 1 })
          return this.#argumentsFor(found, inner)
        }
        const imported = this.#imported(file, node.name)
        if (imported?.declared.kind !== 'value') return [GAP]
        return this.#texts(imported.declared.node, {
          file: imported.file,
          bound: new Map(),
          depth: depth + 1,
        })
      }
      default:
        return [GAP]
    }
  }

  /** What the functions of the same file pass for a parameter. */
  #argumentsFor({ of, index = 0 }: Declared, context: Context): string[] {
    const name = of?.id?.name ?? of?.name
    const texts: string[] = []
    if (name === undefined) return [GAP]
    walk(context.file.program, (node) => {
      const isCall =
        node.type === 'CallExpression' && (node.callee.name ?? node.callee.property?.name) === name
      const argument = isCall ? node.arguments[index] : undefined
      if (argument !== undefined) texts.push(...this.#texts(argument, { ...context, bound: new Map() }))
    })
    return texts.length === 0 ? [GAP] : [...new Set(texts)].slice(0, MOST_TEXTS)
  }

  #members(node: Node, context: Context): string[] {
    const object = this.#resolved(node.object, context)
    if (object?.node.type !== 'ObjectExpression') return [GAP]
    const values = object.node.properties.filter(
      ({ key }: Node) => node.computed || (key?.name ?? key?.value) === node.property.name,
    )
    const texts = values.flatMap(({ value }: Node) => this.#texts(value, object.in))
    return texts.length === 0 ? [GAP] : texts
  }

  /** A list joined, or a function with one result. */
  #called(node: Node, context: Context): string[] {
    if (node.callee.property?.name === 'join') {
      const items = this.#items(node.callee.object, context)
      const separator = String(node.arguments[0]?.value ?? ',')
      if (items === undefined) return [GAP]
      return joined(items.flatMap((item, at) => (at === 0 ? [item] : [[separator], item])))
    }
    if (node.callee.property?.name === 'replaceAll') {
      const [from, to] = node.arguments.map(({ value }: Node) => String(value))
      return this.#texts(node.callee.object, context).map((text) => text.replaceAll(from, to))
    }
    const called = this.#resolved(node.callee, context)
    const result = called && resultOf(called.node)
    if (called === undefined || result === undefined) return [GAP]
    return this.#texts(result, this.#bind(called, node.arguments, context))
  }

  #bind(called: { node: Node; in: Context }, given: readonly Node[], context: Context): Context {
    const bound = new Map(called.in.bound)
    for (const [at, parameter] of called.node.params.entries()) {
      const argument = given[at] ?? parameter.right
      if (argument !== undefined) bound.set(parameter, { node: argument, in: context })
    }
    return { file: called.in.file, bound, depth: context.depth }
  }

  #items(node: Node, context: Context): string[][] | undefined {
    if (node.type === 'CallExpression' && node.callee.property?.name === 'map') {
      const list = this.#resolved(node.callee.object, context)
      const each = node.arguments[0]
      const result = resultOf(each)
      if (result === undefined) return undefined
      // A list of parameters stands for one of them.
      if (list?.node.type !== 'ArrayExpression') return [this.#texts(result, context)]
      return list.node.elements.map((element: Node) => {
        const bound = new Map(context.bound)
        if (each.params[0] !== undefined) bound.set(each.params[0], { node: element, in: list.in })
        return this.#texts(result, { ...context, bound })
      })
    }
    if (node.type === 'CallExpression' && node.callee.property?.name === 'slice') {
      return this.#items(node.callee.object, context)?.slice(
        ...node.arguments.map(({ value }: Node) => value),
      )
    }
    const list = this.#resolved(node, context)
    if (list !== undefined && list.node !== node) return this.#items(list.node, list.in)
    if (list?.node.type !== 'ArrayExpression') return undefined
    const items: string[][] = []
    for (const element of list.node.elements) {
      if (element.type !== 'SpreadElement') items.push(this.#texts(element, list.in))
      else {
        const spread = this.#items(element.argument, list.in)
        if (spread === undefined) return undefined
        items.push(...spread)
      }
    }
    return items
  }

  /** The list, object or function that an expression stands for. */
  #resolved(node: Node, context: Context): { node: Node; in: Context } | undefined {
    if (node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression') {
      return this.#resolved(node.expression, context)
    }
    if (node.type !== 'Identifier') return { node, in: context }
    const found = declaredAt(context.file, node.name, node.start)
    if (found?.kind === 'parameter') {
      const given = context.bound.get(found.node)
      return given && this.#resolved(given.node, given.in)
    }
    if (found !== undefined) return this.#resolved(found.node, context)
    const imported = this.#imported(context.file, node.name)
    if (imported === undefined) return undefined
    return this.#resolved(imported.declared.node, { ...context, file: imported.file, bound: new Map() })
  }

  /** What an imported name stands for, through re-exports. */
  #imported(file: File, name: string): { file: File; declared: Declared } | undefined {
    for (const statement of file.program.body) {
      if (statement.type !== 'ImportDeclaration' && statement.type !== 'ExportNamedDeclaration') continue
      if (!String(statement.source?.value ?? '').startsWith('.')) continue
      for (const one of statement.specifiers) {
        const inside = one.imported?.name ?? one.local.name
        const outside = statement.type === 'ImportDeclaration' ? one.local.name : one.exported.name
        if (outside !== name) continue
        const target = this.#file(path.join(path.dirname(file.name), statement.source.value))
        const declared = target.scopes[0]?.names.get(inside)
        return declared === undefined ? this.#imported(target, inside) : { file: target, declared }
      }
    }
    return undefined
  }

  /** The declaration of a type, through imports. */
  #typeNamed(name: string, file: File): { node: Node; file: File } | undefined {
    for (const statement of file.program.body) {
      const node = statement.declaration ?? statement
      const isType = node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration'
      if (isType && node.id.name === name) return { node, file }
    }
    for (const statement of file.program.body) {
      if (statement.type !== 'ImportDeclaration' && statement.type !== 'ExportNamedDeclaration') continue
      if (!String(statement.source?.value ?? '').startsWith('.')) continue
      for (const one of statement.specifiers) {
        const outside = statement.type === 'ImportDeclaration' ? one.local.name : one.exported.name
        const inside = one.imported?.name ?? one.local.name
        if (outside !== name) continue
        return this.#typeNamed(inside, this.#file(path.join(path.dirname(file.name), statement.source.value)))
      }
    }
    return undefined
  }

  /** The fields that a row type requires; undefined if it is not an object type that is understood. */
  #fields(type: Node, file: File): Map<string, Set<Kind>> | undefined {
    if (type.type === 'TSTypeLiteral') return this.#membersOf(type.members, file)
    if (type.type === 'TSIntersectionType') return this.#merged(type.types, file)
    if (type.type !== 'TSTypeReference') return undefined
    const name = type.typeName.name
    const [of, keys] = type.typeArguments?.params ?? []
    if (name === 'Pick' || name === 'Omit') {
      const fields = this.#fields(of, file)
      const names = new Set((keys.types ?? [keys]).map((key: Node) => key.literal?.value))
      return fields && new Map([...fields].filter(([field]) => names.has(field) === (name === 'Pick')))
    }
    if (name === 'Readonly') return this.#fields(of, file)
    const found = this.#typeNamed(name, file)
    if (found === undefined) return undefined
    if (found.node.type === 'TSTypeAliasDeclaration')
      return this.#fields(found.node.typeAnnotation, found.file)
    const own = this.#membersOf(found.node.body.body, found.file)
    const bases: Node[] = (found.node.extends ?? []).map(({ expression, typeArguments }: Node) => ({
      type: 'TSTypeReference',
      typeName: expression,
      typeArguments,
    }))
    const inherited = this.#merged(bases, found.file)
    return inherited && new Map([...inherited, ...own])
  }

  #merged(types: readonly Node[], file: File): Map<string, Set<Kind>> | undefined {
    const merged = new Map<string, Set<Kind>>()
    for (const one of types) {
      const fields = this.#fields(one, file)
      if (fields === undefined) return undefined
      for (const [name, kinds] of fields) merged.set(name, kinds)
    }
    return merged
  }

  #membersOf(members: readonly Node[], file: File): Map<string, Set<Kind>> {
    const fields = new Map<string, Set<Kind>>()
    for (const member of members) {
      if (member.type !== 'TSPropertySignature' || member.optional) continue
      const kinds = this.#kinds(member.typeAnnotation.typeAnnotation, file)
      fields.set(member.key.name ?? member.key.value, kinds)
    }
    return fields
  }

  #kinds(type: Node, file: File): Set<Kind> {
    const names: Record<string, Kind> = {
      TSNumberKeyword: 'number',
      TSStringKeyword: 'string',
      TSNullKeyword: 'null',
      TSTemplateLiteralType: 'string',
    }
    const known = names[type.type]
    if (known !== undefined) return new Set([known])
    if (type.type === 'TSUnionType') {
      return new Set(type.types.flatMap((one: Node) => [...this.#kinds(one, file)]))
    }
    if (type.type === 'TSLiteralType') {
      const value = typeof type.literal.value
      return new Set([value === 'number' || value === 'string' ? value : 'any'])
    }
    // A brand.
    if (type.type === 'TSIntersectionType') return this.#kinds(type.types[0], file)
    if (type.type !== 'TSTypeReference') return new Set(['any'])
    const name = type.typeName.name
    if (name === 'Uint8Array' || name === 'Buffer') return new Set(['bytes'])
    const found = this.#typeNamed(name, file)
    if (found?.node.type !== 'TSTypeAliasDeclaration') return new Set(['any'])
    return this.#kinds(found.node.typeAnnotation, found.file)
  }
}

function joined(parts: readonly (readonly string[])[]): string[] {
  let texts = ['']
  for (const part of parts) {
    texts = texts.flatMap((text) => part.map((one) => text + one)).slice(0, MOST_TEXTS)
  }
  return texts
}

/** The expression that a function returns, if it has one result. */
function resultOf(node: Node): Node {
  if (node?.body === undefined || node.params === undefined) return undefined
  if (node.body.type !== 'BlockStatement') return node.body
  const returns: Node[] = []
  walk(node.body, (inner) => {
    if (inner.type === 'ReturnStatement') returns.push(inner)
  })
  return returns.length === 1 ? returns[0].argument : undefined
}

function declaredAt(file: File, name: string, position: number): Declared | undefined {
  const inside = file.scopes.filter(({ start, end, names }) => {
    return start <= position && position <= end && names.has(name)
  })
  return inside.toSorted((a, b) => a.end - a.start - (b.end - b.start))[0]?.names.get(name)
}

function scopesOf(program: Node): File['scopes'] {
  const scopes = [{ start: 0, end: program.end + 1, names: new Map<string, Declared>() }]
  const enter = (node: Node, names: Map<string, Declared>): void => {
    if (Array.isArray(node)) for (const one of node) enter(one, names)
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return
    let inner = names
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init) {
      names.set(node.id.name, { kind: 'value', node: node.init })
    }
    if (node.type === 'FunctionDeclaration' && node.id) names.set(node.id.name, { kind: 'function', node })
    const isFunction = Array.isArray(node.params) && node.body !== undefined && /Function/.test(node.type)
    if (isFunction || node.type === 'BlockStatement') {
      inner = new Map()
      scopes.push({ start: node.start, end: node.end, names: inner })
    }
    if (isFunction) {
      for (const [index, parameter] of node.params.entries()) {
        const name = parameter.name ?? parameter.left?.name
        if (name) inner.set(name, { kind: 'parameter', node: parameter, of: node, index })
      }
    }
    for (const value of Object.values(node)) enter(value, inner)
  }
  enter(program, scopes[0]?.names ?? new Map())
  return scopes
}

function walk(node: Node, enter: (node: Node) => void): void {
  if (Array.isArray(node)) for (const one of node) walk(one, enter)
  else if (typeof node === 'object' && node !== null) {
    if ('type' in node) enter(node)
    for (const value of Object.values(node)) walk(value, enter)
  }
}
