import type { Registry } from 'prom-client'
import { registerGauges, type StateMetric } from '../../base/metrics.ts'
import type { MailState } from './outbox.ts'

const gauges: readonly StateMetric<MailState>[] = [
  { name: 'carrel_mail_waiting', help: 'Mails that are due and not sent yet', of: ({ waiting }) => waiting },
  {
    name: 'carrel_mail_oldest_waiting_timestamp_seconds',
    help: 'Time when the oldest waiting mail was queued; 0 if none is waiting',
    of: ({ oldestWaitingAt }) => oldestWaitingAt ?? 0,
  },
  { name: 'carrel_mail_sent', help: 'Mails sent in the last 24 hours', of: ({ sent }) => sent },
  { name: 'carrel_mail_failed', help: 'Mails given up in the last 24 hours', of: ({ failed }) => failed },
]

/** Registers the metrics of mail. */
export function registerMailMetrics(registry: Registry, state: () => Promise<MailState>): void {
  registerGauges(registry, gauges, state)
}
