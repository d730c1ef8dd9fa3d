import { describeApi } from '../src/platform/openapi/index.ts'
import { describedSurfaces } from '../src/programs/server/api-description.ts'

/** The API description, made of the routes. */
export function readDescription(): Description {
  return describeApi(describedSurfaces) as unknown as Description
}

/** The parts of the API description that generators read: SDK types, the Python client and the reference on the site. */
export interface Description {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>
    readonly responses: Readonly<Record<string, Response>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

/** How a call compares with that of the server that existing clients were written for. */
export interface ComparedCall {
  readonly result: string
  readonly note?: string
}

/** A call. */
export interface Operation {
  readonly summary: string
  readonly deprecated?: boolean
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
  readonly 'x-rate-limit'?: string
  readonly 'x-body-limit'?: number
  readonly 'x-compatibility'?: ComparedCall
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

export interface Response {
  /** The error of a surface, which every call of it can answer. */
  readonly $ref?: string
  readonly description: string
  readonly content?: Content
  readonly headers?: Readonly<Record<string, { readonly description: string }>>
}

/** Bodies by media type. */
export type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>

/** The keywords of JSON Schema that the description uses and generators need. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly const?: Literal
  readonly enum?: readonly Literal[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
  readonly format?: string
  readonly default?: string | number | boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly 'x-lenient'?: boolean
}

type Literal = string | number | boolean | null
