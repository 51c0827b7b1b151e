// The tour: twelve programs from a wire to a GAN, each with a few words and something to try.

import wire from "../tour/01-wire.limn";
import box from "../tour/02-box.limn";
import axes from "../tour/03-axes.limn";
import learner from "../tour/04-learner.limn";
import goal from "../tour/05-goal.limn";
import train from "../tour/06-train.limn";
import autoencoder from "../tour/07-autoencoder.limn";
import copy from "../tour/08-copy.limn";
import who from "../tour/09-who.limn";
import attention from "../tour/10-attention.limn";
import transformer from "../tour/11-transformer.limn";
import gan from "../tour/12-gan.limn";
import type { Look } from "../state";

export interface Step {
  title: string;
  file: string;
  program: string;
  words: string;
  attempt: string;
  look?: Partial<Look>;
}

export const steps: Step[] = [
  {
    title: "A wire",
    file: "01-wire",
    program: wire,
    words: "A program is a diagram, and a diagram is made of wires. This one carries three numbers from left to right and does nothing to them. The line in the picture is labelled with how many it carries.",
    attempt: "Point at the wire, and see what lights up in the text. Change `3` to `5` in both places.",
  },
  {
    title: "A box",
    file: "02-box",
    program: box,
    words: "A box takes wires on its left and gives wires on its right. `twice` uses `bend` two times: in the picture, the same box stands there twice.",
    attempt: "Choose `twice` above the picture and click a box: it opens in place. Click it again to close it.",
    look: { name: "twice" },
  },
  {
    title: "Axes",
    file: "03-axes",
    program: axes,
    words: "A table of numbers has axes, and every axis is a line of the bundle. What an operation does not touch passes it by; the axis that is summed over ends. This one line is a layer of a neural network.",
    attempt: "Take the sum away, so that it says `y[r] = W[r c] x[c]`: an index that stands on the right alone is summed by itself.",
  },
  {
    title: "A learner",
    file: "04-learner",
    program: learner,
    words: "The numbers inside of a learner are not written down but found. `dense[16]` has a weight for each pair of an input and an output, and limn knows all sizes from the types at both ends.",
    attempt: "Put another box on a wire: press **Boxes**, choose a wire in the picture, then `tanh`.",
    look: { name: "guess" },
  },
  {
    title: "A goal",
    file: "05-goal",
    program: goal,
    words: "What is learned is said by an equation: two diagrams that should be equal. On the left what the learner makes of a flower's measures, on the right which kind it is. Between them stands the distance.",
    attempt: "Write `l2` instead of `cross_entropy`. limn refuses: scores and kinds are not measured so. The message says what is wanted. Undo it with Ctrl+Z.",
  },
  {
    title: "Training",
    file: "06-train",
    program: train,
    words: "Three more lines, and it can be trained: how long, by what, and what is measured. The picture of the step, with its derivative, is made by limn, and checked before anything runs.",
    attempt: "Press **Train**. The curve falls, and below it grows the table of which flowers are taken for which. Pause it, and go on.",
  },
  {
    title: "Through a needle's eye",
    file: "07-autoencoder",
    program: autoencoder,
    words: "Two learners, one goal: a flower is written down as two numbers by `enc` and read again by `dec`. Whatever comes out should be what went in.",
    attempt: "Make the code one number: `code = 1`. Train both, and lay the two runs over each other.",
  },
  {
    title: "Around a block",
    file: "08-copy",
    program: copy,
    words: "A wire that is used twice is copied: a dot in the picture. The sum of a block and what went around it is a residual connection. Networks with a hundred layers are trained that way.",
    attempt: "Look at the **Gradient** of `around`: where the forward wire is copied, the way back has a sum.",
    look: { name: "around" },
  },
  {
    title: "Who moves whom",
    file: "09-who",
    program: who,
    words: "With several goals it matters which learner each of them may move. `lesson` uses the teacher, but trains the pupil alone: its gradient passes the teacher by.",
    attempt: "Press **Who** above the picture. Take `trains pupil` away, and look what becomes of the teacher.",
    look: { view: "who" },
  },
  {
    title: "Attention",
    file: "10-attention",
    program: attention,
    words: "Every place asks a question `Q`; the places that can answer have a key `K` and something to say, `V`. How well question and key fit says how much is taken. The axis `other` comes in twice and is gone at the end.",
    attempt: "Set the level to **Layers**: the whole of attention is three lines, a product, a softmax, and another product.",
  },
  {
    title: "A transformer",
    file: "11-transformer",
    program: transformer,
    words: "Attention around, a small network around, a norm behind each: that is a layer, and four of them are a transformer. What the program says once is drawn once.",
    attempt: "Draw `model`, open a `layer` in it, then `multihead`. Press **Cost** to see what each part takes.",
    look: { name: "layer" },
  },
  {
    title: "Two players",
    file: "12-gan",
    program: gan,
    words: "A generator and a judge share a wire, and want opposite things of it. Three equations that cannot all hold: that is a generative adversarial network, and all of it is on one screen.",
    attempt: "Train it. Then begin a program of your own: **New** in the list of files.",
  },
];
