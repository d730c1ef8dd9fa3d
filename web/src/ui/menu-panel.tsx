import { Menu as Radix } from 'radix-ui/internal'
import { type ReactNode, type RefObject, useRef } from 'react'
import { isRightToLeft } from './direction.ts'
import type { MenuEntry } from './menu.tsx'

/**
 * The open menu, at an element or a point. Loaded on demand, because it needs a large library. It imports no icons: a page that uses
 * the same icon would load this file too.
 */
export function MenuPanel(props: {
  entries: readonly MenuEntry[]
  title?: ReactNode
  align: 'start' | 'end'
  byKeyboard: boolean
  anchor: RefObject<{ getBoundingClientRect(): DOMRect } | null>
  labelledBy?: string
  onClose: () => void
  onCloseAutoFocus: (event: Event) => void
}) {
  const { anchor, byKeyboard } = props
  const hasLeft = useRef(false)
  const hasFirstFocus = useRef(!byKeyboard)
  // The button closes its own menu. Without this a click would close and reopen it.
  const isAnchor = (target: EventTarget | null) =>
    anchor.current instanceof Element && target instanceof Node && anchor.current.contains(target)
  return (
    <Radix.Root open modal={false} onOpenChange={(open) => !open && props.onClose()}>
      <Radix.Anchor virtualRef={anchor} />
      <Radix.Portal>
        <Radix.Content
          className="menu"
          side={props.labelledBy === undefined ? (isRightToLeft() ? 'left' : 'right') : 'bottom'}
          align={props.align}
          sideOffset={props.labelledBy === undefined ? 2 : 4}
          collisionPadding={8}
          aria-labelledby={props.labelledBy}
          onFocus={({ target, currentTarget }) => {
            if (hasFirstFocus.current || target !== currentTarget) return
            hasFirstFocus.current = true
            currentTarget.querySelector<HTMLElement>('[role^=menuitem]:not([data-disabled])')?.focus()
          }}
          onInteractOutside={(event) => {
            if (isAnchor(event.target)) event.preventDefault()
            else hasLeft.current = true
          }}
          onCloseAutoFocus={(event) => {
            if (!hasLeft.current) props.onCloseAutoFocus(event)
            event.preventDefault()
          }}
        >
          {props.title && <Radix.Label className="menu-title">{props.title}</Radix.Label>}
          {props.entries.map(entryOf)}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

function entryOf(entry: MenuEntry, index: number): ReactNode {
  if (entry === false || entry === undefined) return null
  if (entry === 'line') return <Radix.Separator key={index} className="menu-line" />
  if ('heading' in entry) {
    return (
      <Radix.Label key={entry.heading} className="menu-title">
        {entry.heading}
      </Radix.Label>
    )
  }
  const { icon: Icon, checked } = entry
  return (
    <Radix.Item
      key={entry.label}
      className={`menu-item${entry.danger ? ' menu-item-danger' : ''}`}
      disabled={entry.disabled ?? false}
      onSelect={entry.onSelect}
      {...(checked !== undefined && { role: 'menuitemradio', 'aria-checked': checked })}
    >
      {Icon && <Icon size={18} aria-hidden />}
      <span className="menu-item-text">{entry.label}</span>
      {entry.shortcut && <kbd>{entry.shortcut}</kbd>}
    </Radix.Item>
  )
}
