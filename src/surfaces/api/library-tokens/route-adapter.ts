import type { Details, Responses } from '../../../base/schemas/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import type { FaultResponses, Route } from '../../../platform/http/index.ts'
import type { Reader, Readers } from '../../../platform/input/index.ts'

/** How a route of a library is adapted to library tokens. */
export interface Via {
  /** Below `/api/v2.1/via-repo-token/`. */
  readonly path: string
  readonly summary: string
  /** New parameter names, by original name. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Replacement readers, by original name. */
  readonly readers?: Readers
  /** Query parameters that are not accepted. */
  readonly without?: readonly string[]
  /** Body fields that are always the library's id. */
  readonly implied?: readonly string[]
  readonly faults?: FaultResponses
  /** Maps the original response to the response of this route, which `responses` describes. */
  readonly answered?: (answer: unknown) => unknown
  readonly responses?: () => Responses
  readonly details?: () => Details
}

/**
 * The same route for holders of a library token. The library is implied by the token, so no other can be named.
 * The `access` module decides what the token allows, as for every caller.
 */
export function forLibraryToken<Services>(
  routes: readonly Route<Account, Services>[],
  endpoint: string,
  via: Via,
): Route<Account, Services> {
  const route = routes.find(({ method, path }) => `${method} ${path}` === endpoint)
  if (route === undefined || route.body === 'raw') throw new Error(`There is no ${endpoint} to be offered.`)
  const query = adapt(route.query, via, via.without ?? [])
  const body = adapt(route.body, via, via.implied ?? [])
  return {
    ...route,
    path: `/api/v2.1/via-repo-token/${via.path}`,
    auth: 'library',
    scope: 'none',
    summary: via.summary,
    compatibility: 'supported',
    // Those of the original are accounts.
    callers: undefined,
    sample: undefined,
    responses: via.responses ?? route.responses,
    details: via.details ?? (() => renamedDetails(route.details?.() ?? {}, via)),
    params: {},
    query: query.readers,
    body: body.readers,
    faults: { ...route.faults, 'permission-denied': () => [403, 'Permission denied.'], ...via.faults },
    async handle(input, services) {
      const id = input.user?.scope?.libraryId
      const implied = Object.fromEntries((via.implied ?? []).map((name) => [name, id]))
      const answer = await route.handle(
        {
          ...input,
          params: 'repo_id' in route.params ? { repo_id: id } : {},
          query: query.named(input.query),
          body: { ...body.named(input.body as Record<string, unknown>), ...implied },
        },
        services,
      )
      return via.answered === undefined ? answer : via.answered(answer)
    },
  }
}

/** What the original says of its parameters, under their new names. */
function renamedDetails(details: Details, { renamed = {} }: Via): Details {
  const parameters = Object.entries(details.parameters ?? {})
  return {
    ...details,
    parameters: Object.fromEntries(parameters.map(([name, about]) => [renamed[name] ?? name, about])),
  }
}

/** The readers under their new names, and a function that maps the values back to the original names. */
function adapt(readers: Readers, { renamed = {}, readers: others = {} }: Via, left: readonly string[]) {
  const names = Object.keys(readers).filter((name) => !left.includes(name))
  const here = (name: string) => renamed[name] ?? name
  const chosen = names.map((name): [string, Reader<unknown>] => {
    const reader = others[name] ?? readers[name]
    if (reader === undefined) throw new Error(`${name} has no reader`)
    return [here(name), reader]
  })
  return {
    readers: Object.fromEntries(chosen),
    named: (values: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(names.map((name) => [name, values[here(name)]])),
  }
}
