import type { ComparedCall, Description, Operation } from './description.ts'

/** A call as the API description has it. */
export interface DescribedCall {
  readonly method: string
  /** With `:name` for parameters, as the routes have it. */
  readonly path: string
  readonly summary: string
  readonly credential: 'none' | 'user' | 'admin' | 'library'
  /** The scope that a personal token needs; `none` if personal tokens are refused. */
  readonly scope: string
  readonly limit: string | undefined
  /** Bytes. */
  readonly bodyLimit: number | undefined
  readonly compatibility: ComparedCall | undefined
}

/** The calls of the API description, by path and method. */
export function describedCalls({ paths }: Description): DescribedCall[] {
  const calls = Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]): DescribedCall => {
      return {
        method: method.toUpperCase(),
        path: template.replace(/\{(\w+)\}/g, ':$1'),
        summary: operation.summary,
        ...credentialOf(operation),
        limit: operation['x-rate-limit'],
        bodyLimit: operation['x-body-limit'],
        compatibility: operation['x-compatibility'],
      }
    }),
  )
  return calls.toSorted((a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1))
}

function credentialOf({ security: [needed] }: Operation): Pick<DescribedCall, 'credential' | 'scope'> {
  if (needed === undefined) return { credential: 'none', scope: 'none' }
  if (needed['token'] === undefined) return { credential: 'library', scope: 'none' }
  const isAdmin = needed['token'].includes('admin')
  const scope = needed['token'].find((role) => role !== 'admin') ?? 'none'
  return { credential: isAdmin ? 'admin' : 'user', scope }
}
