// The state of the store that the page shows. All requests name it, and the server answers from it while the store
// grows, so that one picture is never of two states. If the server no longer has that state, an answer comes from a
// newer one: then the page shows that one, and asks for everything again.

export class ShownState {
  private state: string | undefined; // undefined before the first answer
  private listeners = new Set<() => void>();
  moves = 0; // how often the page went to another state

  get current(): string | undefined {
    return this.state;
  }

  // answered notes the state of an answer to a request that named a state.
  answered(named: string | undefined, state: string | null): void {
    if (state === null || state === this.state) return;
    if (this.state === undefined) this.state = state;
    // An answer to a request from before the last move says nothing about the state that is shown now. The first
    // requests name no state; if the store grew between their answers, the later one shows that.
    else if (named === this.state || named === undefined) this.move(state);
  }

  // move shows another state.
  move(state: string): void {
    if (state === this.state) return;
    this.state = state;
    this.moves++;
    this.listeners.forEach((listener) => listener());
  }

  // onMove calls a listener after each move. The returned function ends that.
  onMove(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

export const shown = new ShownState();

// stateHeader is the header that names a state in requests and answers.
export const stateHeader = 'Stackmill-State';

// anyState is what a request names before the page knows a state: the server then keeps the state of its answer.
export const anyState = 'newest';
