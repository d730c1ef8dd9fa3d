import { Bell } from 'lucide-react'
import { useLocation } from 'wouter'
import type { NotificationItem } from '../api/index.ts'
import type { Texts } from '../texts/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Avatar, Sentence } from '../ui/index.ts'
import { parseNotification } from './parse-notification.ts'

/** One notification. A click marks it as seen and opens its target. */
export function NotificationRow(props: { item: NotificationItem; onSeen: () => void; onLeave: () => void }) {
  const { item } = props
  const texts = useTexts('activity')
  const common = useTexts('common')
  const formats = useFormats()
  const [, go] = useLocation()
  const { sentence, names, viaLink, from, to, message } = parseNotification(item)
  const parts = Object.fromEntries(
    Object.entries(names).map(([name, text]) => [
      name,
      translated(name, text, texts) ?? <bdi>{viaLink && name === 'who' ? common.visitor(text) : text}</bdi>,
    ]),
  )

  function follow(): void {
    if (!item.seen) props.onSeen()
    if (to === undefined) return
    props.onLeave()
    go(to)
  }

  return (
    <li>
      <button
        type="button"
        className={`notification${item.seen ? '' : ' notification-unseen'}`}
        onClick={follow}
      >
        {from ? (
          <Avatar email={from.email} name={from.name} url={from.avatarUrl} size={32} />
        ) : (
          <span className="notification-sign">
            <Bell size={17} aria-hidden />
          </span>
        )}
        <span className="notification-text">
          <span>
            <Sentence sentence={texts.sentences[sentence](Number(names['count']))} parts={parts} />
          </span>
          {message !== undefined && <bdi className="notification-message">{message}</bdi>}
          <time className="muted" dateTime={item.time} title={formats.moment(item.time)}>
            {formats.ago(item.time)}
          </time>
        </span>
        {!item.seen && <span className="notification-dot" role="img" aria-label={texts.unseen} />}
      </button>
    </li>
  )
}

/** Translates values of the API; undefined for names. */
function translated(name: string, text: string, texts: Texts['activity']): string | undefined {
  if (name === 'permission') return texts.permissions[text as keyof Texts['activity']['permissions']]
  if (name === 'op') return texts.operations[text as keyof Texts['activity']['operations']]
  return undefined
}
