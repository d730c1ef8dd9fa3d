import './notification-bell.css'
import { Bell } from 'lucide-react'
import { Popover } from 'radix-ui'
import { lazy, Suspense, useState } from 'react'
import { useUnseen } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Waiting } from '../ui/index.ts'

const NotificationList = lazy(() => import('./notification-list.tsx'))
const MAX_COUNTED = 99

/** Number of new notifications, and a popover with the list. */
export function NotificationBell() {
  const texts = useTexts('activity')
  const formats = useFormats()
  const { data: unseen = 0 } = useUnseen()
  const [open, setOpen] = useState(false)
  const label = unseen === 0 ? texts.notifications : texts.newOnes(unseen, formats.number(unseen))
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <button type="button" className="icon-button bell" aria-label={label} title={label}>
          <Bell size={20} aria-hidden />
          {unseen > 0 && (
            <span className="bell-count" aria-hidden>
              {unseen > MAX_COUNTED ? `${MAX_COUNTED}+` : unseen}
            </span>
          )}
        </button>
      </Popover.Trigger>
      <span className="visually-hidden" role="status">
        {unseen > 0 && label}
      </span>
      <Popover.Portal>
        <Popover.Content
          className="notifications"
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label={texts.notifications}
        >
          <Suspense fallback={<Waiting />}>
            <NotificationList onLeave={() => setOpen(false)} />
          </Suspense>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
