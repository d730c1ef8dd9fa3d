import type { LucideIcon } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { Link } from 'wouter'

interface Look {
  readonly variant?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly icon?: LucideIcon
  readonly busy?: boolean
  readonly children: ReactNode
}

const classOf = (variant: Look['variant'], more = '') =>
  `button${variant && variant !== 'plain' ? ` button-${variant}` : ''} ${more}`.trim()

export function Button(props: Look & ComponentProps<'button'>) {
  const { variant, icon: Icon, busy = false, children, className, disabled, ...rest } = props
  return (
    <button
      type="button"
      {...rest}
      className={classOf(variant, className)}
      disabled={disabled || busy}
      aria-busy={busy}
    >
      {busy ? <span className="spinner spinner-small" /> : Icon && <Icon size={18} aria-hidden />}
      {children}
    </button>
  )
}

/** An internal link that looks like a button. */
export function ButtonLink(props: Look & { to: string; className?: string }) {
  const { variant, icon: Icon, children, className, to } = props
  return (
    <Link to={to} className={classOf(variant, className)}>
      {Icon && <Icon size={18} aria-hidden />}
      {children}
    </Link>
  )
}

/** A button with only an icon. `label` is its accessible name and tooltip. */
export function IconButton(
  props: { label: string; icon: LucideIcon; size?: number } & ComponentProps<'button'>,
) {
  const { label, icon: Icon, size = 19, className = '', ...rest } = props
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={`icon-button ${className}`.trim()}
    >
      <Icon size={size} aria-hidden />
    </button>
  )
}
