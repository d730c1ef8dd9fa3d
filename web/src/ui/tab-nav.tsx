import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'

/** Tabs with URLs. The current tab is scrolled into view. */
export function TabNav<Name extends string>(props: {
  label: string
  names: readonly Name[]
  current: Name
  addressOf: (name: Name) => string
  children: (name: Name) => ReactNode
}) {
  const { current } = props
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    const open = nav.current?.querySelector(`[data-name="${current}"]`)
    open?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [current])
  return (
    <nav ref={nav} className="tabs" aria-label={props.label}>
      {props.names.map((name) => (
        <Link
          key={name}
          to={props.addressOf(name)}
          className="tab"
          data-name={name}
          aria-current={name === current ? 'page' : undefined}
        >
          {props.children(name)}
        </Link>
      ))}
    </nav>
  )
}
