import type { Sent } from '../../api/matrix/policy.ts'
import type { Stage } from '../../api/matrix/stage.ts'
import type { Params } from '../../support/client.ts'
import type { Prepared } from './measuring-client.ts'

/** The request of a call of the matrix, as bytes. */
export function prepare(stage: Stage, route: string, caller: string, sent: Sent): Prepared {
  const [method = '', path = ''] = route.split(' ')
  const values: Record<string, string | number> = { repo_id: stage.id, commit_id: stage.gone, ...sent.params }
  const at = path.replace(/:(\w+)/g, (_, key: string) => encodeURI(String(values[key] ?? `no ${key}`)))
  const client = sent.as ?? stage.client(caller)
  const query = sent.query === undefined ? '' : `?${urlencoded(sent.query)}`
  const { body, type } = method === 'GET' ? {} : encoded(sent)
  return {
    method,
    url: `${client.url}${at}${encodeURI(sent.below ?? '')}${query}`,
    headers: {
      ...(client.token !== undefined && { Authorization: `Token ${client.token}` }),
      ...(type !== undefined && { 'Content-Type': type }),
      ...sent.headers,
    },
    body: body === undefined ? undefined : new Uint8Array(Buffer.from(body)),
    headOnly: sent.headOnly ?? false,
  }
}

function encoded({ json, form, raw }: Sent): { body?: string | Uint8Array; type?: string } {
  if (raw !== undefined) return { body: raw }
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' }
  if (form === undefined) return {}
  return { body: urlencoded(form), type: 'application/x-www-form-urlencoded' }
}

function urlencoded(params: Params): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter((one) => one !== undefined)
      .map((one): [string, string] => [name, String(one)]),
  )
  return String(new URLSearchParams(pairs))
}
