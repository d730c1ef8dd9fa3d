import type { AlsoOfWebhook } from '../../activity/index.ts'
import { flag, integer, map, optional, optionalText, rawText, required } from '../../http/index.ts'
import type { OwnedLibrary } from '../../library/index.ts'
import { type AuditedAction, type AuditedCall, auditAction, libraryAction } from '../common/audit.ts'
import { readPage } from '../common/paging.ts'
import { libraryIdParam } from '../common/readers.ts'
import { type ApiServices, route } from '../services.ts'
import { deliveryToWire, webhookToWire } from './webhook-wire.ts'

const MAX_SECRET = 255

const all = '/api/v2.1/repos/:repo_id/webhooks/'
const one = `${all}:webhook_id/`
const deliveries = `${one}deliveries/`
const params = { repo_id: libraryIdParam }
const webhookId = integer({ min: 1 })
const deliveryId = map(required(), (text) => (/^[0-9a-f-]{36}$/.test(text) ? text : undefined))

/** Undefined if absent or empty: forms send back the empty secret that they were shown. */
const sentSecret = map(optionalText(), (text) =>
  (text?.length ?? 0) <= MAX_SECRET ? { text: text || undefined } : undefined,
)

export const webhookRoutes = [
  route({
    method: 'GET',
    path: all,
    auth: 'user',
    scope: 'none',
    summary: 'Lists the webhooks of a library.',
    params,
    async handle({ user, params }, { access, activity }) {
      const library = await access.openOwned(user, params.repo_id)
      const webhooks = await activity.webhooks.list(library)
      return { webhook_list: webhooks.map((webhook) => webhookToWire(params.repo_id, webhook)) }
    },
  }),
  route({
    method: 'POST',
    path: all,
    auth: 'user',
    scope: 'none',
    summary: 'Creates a webhook; only this response contains its secret.',
    params,
    body: { url: required(), secret: sentSecret },
    async handle({ user, params, body, request }, services) {
      const library = await services.access.openOwned(user, params.repo_id)
      const options = { url: body.url, secret: body.secret.text }
      const also = auditWebhook(services, { user, request }, 'webhook-made', library)
      const { webhook, secret } = await services.activity.webhooks.add(library, options, also)
      return { webhook: webhookToWire(params.repo_id, webhook, secret) }
    },
  }),
  route({
    method: 'PUT',
    path: one,
    auth: 'user',
    scope: 'none',
    summary:
      'Changes the URL or the secret of a webhook, or re-enables a webhook that was disabled after failures.',
    params: { ...params, webhook_id: webhookId },
    body: { url: optional(required()), secret: sentSecret, is_valid: optional(flag()) },
    async handle({ user, params, body, request }, services) {
      const library = await services.access.openOwned(user, params.repo_id)
      const options = { url: body.url, secret: body.secret.text, isValid: body.is_valid }
      const also = auditWebhook(services, { user, request }, 'webhook-changed', library)
      const { webhooks } = services.activity
      const { webhook, secret } = await webhooks.change(library, params.webhook_id, options, also)
      return { webhook: webhookToWire(params.repo_id, webhook, secret) }
    },
  }),
  route({
    method: 'DELETE',
    path: one,
    auth: 'user',
    scope: 'none',
    summary: 'Deletes a webhook and its pending deliveries.',
    params: { ...params, webhook_id: webhookId },
    async handle({ user, params, request }, services) {
      const library = await services.access.openOwned(user, params.repo_id)
      const also = auditWebhook(services, { user, request }, 'webhook-removed', library)
      await services.activity.webhooks.remove(library, params.webhook_id, also)
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: deliveries,
    auth: 'user',
    scope: 'none',
    summary: 'Lists the deliveries of a webhook with their responses, newest first.',
    params: { ...params, webhook_id: webhookId },
    query: { page: rawText(), per_page: rawText() },
    async handle({ user, params, query }, { access, activity }) {
      const library = await access.openOwned(user, params.repo_id)
      const { page, perPage } = readPage(query, 25, { lenient: true })
      const range = { skip: (page - 1) * perPage, limit: perPage }
      const sent = await activity.webhooks.deliveries(library, params.webhook_id, range)
      return { delivery_list: sent.map(deliveryToWire) }
    },
  }),
  route({
    method: 'POST',
    path: `${deliveries}:delivery_id/redeliver/`,
    auth: 'user',
    scope: 'none',
    summary: 'Repeats a delivery of a webhook.',
    params: { ...params, webhook_id: webhookId, delivery_id: deliveryId },
    async handle({ user, params }, { access, activity }) {
      const library = await access.openOwned(user, params.repo_id)
      const again = await activity.webhooks.redeliver(library, params.webhook_id, params.delivery_id)
      return { delivery: deliveryToWire(again) }
    },
  }),
]

/** Only the host of the URL is audited, because the rest may be a secret. */
function auditWebhook(
  services: ApiServices,
  call: AuditedCall,
  action: AuditedAction['action'],
  { info }: OwnedLibrary,
): AlsoOfWebhook {
  return (tx, { key, url }) => {
    const detail = { webhook: key, host: new URL(url).host }
    return auditAction(services, call, libraryAction(action, info, detail))(tx)
  }
}
