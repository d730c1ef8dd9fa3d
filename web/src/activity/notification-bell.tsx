import './notification-bell.css'
import { Bell } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import { useUnseen } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { PopoverPanel, Waiting } from '../ui/index.ts'

const NotificationList = lazy(() => import('./notification-list.tsx'))
const MAX_COUNTED = 99

/** Number of new notifications, and a popover with the list. */
export function NotificationBell() {
  const texts = useTexts('activity')
  const formats = useFormats()
  const { data: unseen = 0 } = useUnseen()
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const label = unseen === 0 ? texts.notifications : texts.newOnes(unseen, formats.number(unseen))
  return (
    <>
      <button
        ref={button}
        type="button"
        className="icon-button bell"
        aria-label={label}
        title={label}
        aria-haspopup="dialog"
        aria-expanded={open}
        data-state={open ? 'open' : 'closed'}
        onClick={() => setOpen(!open)}
      >
        <Bell size={20} aria-hidden />
        {unseen > 0 && (
          <span className="bell-count" aria-hidden>
            {unseen > MAX_COUNTED ? `${MAX_COUNTED}+` : unseen}
          </span>
        )}
      </button>
      <span className="visually-hidden" role="status">
        {unseen > 0 && label}
      </span>
      {open && (
        <Suspense>
          <PopoverPanel
            className="notifications"
            label={texts.notifications}
            anchor={button}
            onClose={() => setOpen(false)}
          >
            <Suspense fallback={<Waiting />}>
              <NotificationList onLeave={() => setOpen(false)} />
            </Suspense>
          </PopoverPanel>
        </Suspense>
      )}
    </>
  )
}
