import { json, kinds } from '../../../base/schemas/index.ts'
import type { Delivery, Webhook } from '../../../derived/activity/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import {
  flag,
  integer,
  map,
  optional,
  optionalText,
  rawText,
  required,
} from '../../../platform/input/index.ts'
import { readPage } from '../common/paging.ts'
import { libraryIdParam } from '../common/readers.ts'
import { isoTime } from '../common/wire-formats.ts'
import { delivery, done, oneWebhook, webhook as webhookSchema } from './activity.schema.ts'
import { route } from './services.ts'

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
    compatibility: 'supported',
    callers: 'the owner',
    params,
    responses: () => ({
      200: json(kinds.record('Webhooks', { webhook_list: kinds.array(webhookSchema) }), 'The webhooks.'),
    }),
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
    compatibility: 'supported',
    callers: 'the owner',
    sample: { form: { url: 'http://127.0.0.1:9/hook' } },
    params,
    body: { url: required(), secret: sentSecret },
    responses: () => ({ 200: json(oneWebhook, 'The new one.') }),
    details: () => ({ errors: [409] }),
    async handle({ user, params, body, request }, services) {
      const library = await services.access.openOwned(user, params.repo_id)
      const options = { url: body.url, secret: body.secret.text }
      const by = auditActor(user, request)
      const { webhook, secret } = await services.activity.webhooks.add(library, options, by)
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
    compatibility: 'supported',
    params: { ...params, webhook_id: webhookId },
    body: { url: optional(required()), secret: sentSecret, is_valid: optional(flag()) },
    responses: () => ({ 200: json(oneWebhook, 'The changed one.') }),
    details: () => ({ errors: [409] }),
    async handle({ user, params, body, request }, services) {
      const library = await services.access.openOwned(user, params.repo_id)
      const options = { url: body.url, secret: body.secret.text, isValid: body.is_valid }
      const by = auditActor(user, request)
      const { webhooks } = services.activity
      const { webhook, secret } = await webhooks.change(library, params.webhook_id, options, by)
      return { webhook: webhookToWire(params.repo_id, webhook, secret) }
    },
  }),
  route({
    method: 'DELETE',
    path: one,
    auth: 'user',
    scope: 'none',
    summary: 'Deletes a webhook and its pending deliveries.',
    compatibility: 'supported',
    params: { ...params, webhook_id: webhookId },
    responses: () => done('The webhook was deleted.'),
    async handle({ user, params, request }, services) {
      const library = await services.access.openOwned(user, params.repo_id)
      await services.activity.webhooks.remove(library, params.webhook_id, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: deliveries,
    auth: 'user',
    scope: 'none',
    summary: 'Lists the deliveries of a webhook with their responses, newest first.',
    compatibility: 'addition',
    params: { ...params, webhook_id: webhookId },
    query: { page: rawText(), per_page: rawText() },
    responses: () => ({
      200: json(
        kinds.record('Deliveries', { delivery_list: kinds.array(delivery) }),
        'The deliveries, newest first.',
      ),
    }),
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
    compatibility: 'addition',
    params: { ...params, webhook_id: webhookId, delivery_id: deliveryId },
    responses: () => ({ 200: json(kinds.record('Redelivery', { delivery }), 'The new delivery.') }),
    details: () => ({ errors: [409] }),
    async handle({ user, params }, { access, activity }) {
      const library = await access.openOwned(user, params.repo_id)
      const again = await activity.webhooks.redeliver(library, params.webhook_id, params.delivery_id)
      return { delivery: deliveryToWire(again) }
    },
  }),
]

/** A webhook. The secret is shown only when it was just created or changed. */
function webhookToWire(repoId: string, webhook: Webhook, secret = '') {
  return {
    id: webhook.key,
    repo_id: repoId,
    url: webhook.url,
    creator: webhook.creator,
    created_at: isoTime(webhook.createdAt),
    is_valid: webhook.isValid,
    settings: { secret },
  }
}

function deliveryToWire(delivery: Delivery) {
  const isPending = delivery.state === 'pending'
  return {
    id: delivery.id,
    event: delivery.event,
    state: delivery.state,
    attempts: delivery.attempts,
    created_at: isoTime(delivery.createdAt),
    next_attempt_at: isPending ? isoTime(delivery.nextAt) : '',
    finished_at: delivery.finishedAt === null ? '' : isoTime(delivery.finishedAt),
    status_code: delivery.status,
    response: delivery.answer,
    error: delivery.error,
    body: JSON.parse(delivery.body) as unknown,
  }
}
