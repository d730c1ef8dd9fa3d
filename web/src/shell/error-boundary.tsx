import { Component, type ReactNode } from 'react'
import { LoadError } from '../ui/index.ts'

/** Shows an error message instead of a page that failed to render, until the user goes to another page, `at`. */
export class ErrorBoundary extends Component<{ at: string; children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override componentDidUpdate(before: { at: string }) {
    if (before.at !== this.props.at && this.state.error !== undefined) this.setState({ error: undefined })
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return <LoadError error={error} onRetry={() => this.setState({ error: undefined })} />
  }
}
