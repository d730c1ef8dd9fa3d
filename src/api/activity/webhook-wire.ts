import type { Delivery, Webhook } from '../../activity/index.ts'
import { isoTime } from '../common/wire-formats.ts'

/** A webhook. The secret is shown only when it was just created or changed. */
export function webhookToWire(repoId: string, webhook: Webhook, secret = '') {
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

export function deliveryToWire(delivery: Delivery) {
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
