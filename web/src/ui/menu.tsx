import type { LucideIcon } from 'lucide-react'
import {
  type ComponentProps,
  cloneElement,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  Suspense,
  useId,
  useRef,
  useState,
} from 'react'
import { MenuPanel } from './overlays.ts'

export type MenuEntry =
  | {
      readonly label: string
      readonly icon?: LucideIcon
      readonly onSelect: () => void
      readonly danger?: boolean
      readonly disabled?: boolean
      /** Of a choice among several: whether it is the current one. */
      readonly checked?: boolean
      /** Displayed only; the menu does not bind the key. */
      readonly shortcut?: string
    }
  | 'line'
  | { readonly heading: string }
  | false
  | undefined

/** A menu that opens from a button. The code of the open menu is loaded on demand. */
export function Menu(props: {
  trigger: ReactElement<ComponentProps<'button'>>
  entries: readonly MenuEntry[]
  title?: ReactNode
  align?: 'start' | 'end'
}) {
  const { trigger } = props
  const button = useRef<HTMLButtonElement>(null)
  const ownId = useId()
  const id = trigger.props.id ?? ownId
  const [opened, setOpened] = useState<{ byKeyboard: boolean }>()
  const state = { 'data-state': opened ? 'open' : 'closed' }
  return (
    <>
      {cloneElement(trigger, {
        ref: button,
        id,
        'aria-haspopup': 'menu',
        'aria-expanded': opened !== undefined,
        ...state,
        // Enter and Space are clicks without a pointer.
        onClick: ({ detail }: MouseEvent) => setOpened(opened ? undefined : { byKeyboard: detail === 0 }),
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setOpened({ byKeyboard: true })
        },
      })}
      {opened && (
        <Suspense>
          <MenuPanel
            entries={props.entries}
            title={props.title}
            align={props.align ?? 'end'}
            byKeyboard={opened.byKeyboard}
            anchor={button}
            labelledBy={id}
            onClose={() => setOpened(undefined)}
            onCloseAutoFocus={() => button.current?.focus()}
          />
        </Suspense>
      )}
    </>
  )
}

/** Context menu of `children`. */
export function ContextMenu(props: {
  entries: readonly MenuEntry[]
  children: ReactElement<ComponentProps<'div'>>
  onOpenChange?: (open: boolean) => void
  /** If prevented, the focus does not return to the trigger. */
  onCloseAutoFocus?: (event: Event) => void
}) {
  const { children: child, onOpenChange } = props
  const [opened, setOpened] = useState<{ at: DOMRect; byKeyboard: boolean; back: Element | null }>()
  const anchor = useRef({ getBoundingClientRect: () => new DOMRect() })
  function open(event: MouseEvent<HTMLDivElement>): void {
    child.props.onContextMenu?.(event)
    if (event.defaultPrevented) return
    event.preventDefault()
    const at = DOMRect.fromRect({ x: event.clientX, y: event.clientY })
    anchor.current = { getBoundingClientRect: () => at }
    // The secondary button of a mouse, a finger, or else a key.
    const { pointerType = '' } = event.nativeEvent as Partial<PointerEvent>
    const byKeyboard = event.button !== 2 && pointerType !== 'touch'
    onOpenChange?.(true)
    setOpened({ at, byKeyboard, back: opened?.back ?? document.activeElement })
  }
  return (
    <>
      {cloneElement(child, { onContextMenu: open })}
      {opened && (
        <Suspense>
          <MenuPanel
            key={`${opened.at.x} ${opened.at.y}`}
            entries={props.entries}
            align="start"
            byKeyboard={opened.byKeyboard}
            anchor={anchor}
            onClose={() => {
              onOpenChange?.(false)
              setOpened(undefined)
            }}
            onCloseAutoFocus={(event) => {
              props.onCloseAutoFocus?.(event)
              if (!event.defaultPrevented && opened.back instanceof HTMLElement) opened.back.focus()
            }}
          />
        </Suspense>
      )}
    </>
  )
}
