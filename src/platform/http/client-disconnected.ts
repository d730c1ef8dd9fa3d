/** The client closed the connection before it sent its whole body, or before it got its whole response. */
export class ClientDisconnected extends Error {
  override name = 'ClientDisconnected'
  constructor() {
    super('The client closed the connection before the response was complete')
  }
}
