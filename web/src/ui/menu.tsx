import type { LucideIcon } from 'lucide-react'
import { DropdownMenu as Radix, ContextMenu as RadixContext } from 'radix-ui'
import type { ReactNode } from 'react'

export type MenuEntry =
  | {
      readonly label: string
      readonly icon?: LucideIcon
      readonly onSelect: () => void
      readonly danger?: boolean
      readonly disabled?: boolean
      /** Displayed only; the menu does not bind the key. */
      readonly shortcut?: string
    }
  | 'line'
  | false
  | undefined

/** A menu that opens from a button. */
export function Menu(props: {
  trigger: ReactNode
  entries: readonly MenuEntry[]
  title?: ReactNode
  align?: 'start' | 'end'
}) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{props.trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className="menu" align={props.align ?? 'end'} sideOffset={4} collisionPadding={8}>
          {props.title && <Radix.Label className="menu-title">{props.title}</Radix.Label>}
          {props.entries.map((entry, index) => entryOf(entry, index, Radix))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Context menu of `children`. */
export function ContextMenu(props: {
  entries: readonly MenuEntry[]
  children: ReactNode
  onOpenChange?: (open: boolean) => void
  /** If prevented, the focus does not return to the trigger. */
  onCloseAutoFocus?: (event: Event) => void
}) {
  const { onOpenChange, onCloseAutoFocus } = props
  return (
    <RadixContext.Root modal={false} {...(onOpenChange && { onOpenChange })}>
      <RadixContext.Trigger asChild>{props.children}</RadixContext.Trigger>
      <RadixContext.Portal>
        <RadixContext.Content
          className="menu"
          collisionPadding={8}
          {...(onCloseAutoFocus && { onCloseAutoFocus })}
        >
          {props.entries.map((entry, index) => entryOf(entry, index, RadixContext))}
        </RadixContext.Content>
      </RadixContext.Portal>
    </RadixContext.Root>
  )
}

function entryOf(entry: MenuEntry, index: number, kind: typeof Radix | typeof RadixContext): ReactNode {
  if (entry === false || entry === undefined) return null
  if (entry === 'line') return <kind.Separator key={index} className="menu-line" />
  const { icon: Icon } = entry
  return (
    <kind.Item
      key={entry.label}
      className={`menu-item${entry.danger ? ' menu-item-danger' : ''}`}
      disabled={entry.disabled ?? false}
      onSelect={entry.onSelect}
    >
      {Icon && <Icon size={18} aria-hidden />}
      <span className="menu-item-text">{entry.label}</span>
      {entry.shortcut && <kbd>{entry.shortcut}</kbd>}
    </kind.Item>
  )
}
