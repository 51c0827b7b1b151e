// What preact would keep for ever. A component that draws itself again leaves the node of its first drawing in the props of what is around
// it. That node still holds what was inside of it then, and this what came after it, and so on: every drawing there ever was. So a node
// that another one has followed lets go of what is inside, as soon as the drawing is done and nothing asks for it any more.

import { type Component, options, type VNode } from "preact";

/** The fields that preact gives to its own additions by these names: what is inside of a node, and its component. */
type Inner = VNode & { __k?: unknown; __c?: Component };

export function releaseOldDrawings(): void {
  const last = new WeakMap<Component, Inner>();
  const others = options.diffed;
  options.diffed = (vnode: Inner) => {
    others?.(vnode);
    const component = vnode.__c;
    if (!component) return;
    const before = last.get(component);
    last.set(component, vnode);
    if (before && before !== vnode) queueMicrotask(() => (before.__k = null));
  };
}
