import { X } from 'lucide-react'
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button, IconButton } from './button.tsx'
import { useErrorMessage } from './load-error.tsx'

interface Toast {
  readonly text: string
  readonly bad?: boolean
  readonly action?: ToastAction
  /** Undoes the action; shown before the other button. */
  readonly undo?: () => void
}

interface ToastAction {
  readonly label: string
  readonly run: () => void
}

const SHOWN_MS = 6000
const SHOWN_WITH_ACTION_MS = 10_000

const Context = createContext<(toast: Toast) => void>(() => undefined)

/** Shows a temporary message at the bottom of the page. */
export const useToast = () => useContext(Context)

/** Shows an error message. */
export function useFailureToast(): (error: unknown) => void {
  const toast = useToast()
  const wording = useErrorMessage()
  return useCallback((error) => toast({ text: wording(error), bad: true }), [toast, wording])
}

export function ToastsProvider(props: { children: ReactNode }) {
  const texts = useTexts('common')
  const [toasts, setToasts] = useState<readonly (Toast & { key: number })[]>([])
  const dismiss = useCallback((key: number) => setToasts((all) => all.filter((one) => one.key !== key)), [])
  const show = useCallback(
    (toast: Toast) => {
      const key = Math.random()
      setToasts((all) => [...all.slice(-2), { ...toast, key }])
      setTimeout(() => dismiss(key), toast.action || toast.undo ? SHOWN_WITH_ACTION_MS : SHOWN_MS)
    },
    [dismiss],
  )
  return (
    <Context value={show}>
      {props.children}
      <div className="toasts" aria-live="polite">
        {toasts.map(({ key, text, bad, action, undo }) => (
          <div key={key} className={`toast${bad ? ' toast-bad' : ''}`} role={bad ? 'alert' : 'status'}>
            <span className="toast-text">{text}</span>
            {[undo && { label: texts.undo, run: undo }, action].map(
              (one) =>
                one && (
                  <Button
                    key={one.label}
                    variant="quiet"
                    onClick={() => {
                      dismiss(key)
                      one.run()
                    }}
                  >
                    {one.label}
                  </Button>
                ),
            )}
            <IconButton label={texts.dismiss} icon={X} onClick={() => dismiss(key)} />
          </div>
        ))}
      </div>
    </Context>
  )
}
