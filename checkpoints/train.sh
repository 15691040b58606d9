#!/bin/sh
# Train the bundled checkpoints that are not there, two at a time on one core each: about 80 minutes for all five.
# A run that was cut off is resumed; delete a folder to train it anew.
cd "$(dirname "$0")/.." || exit 1
python=$1
train() {
    folder=$1
    shift
    [ -e "$folder/config.json" ] && [ ! -e "$folder/resume.safetensors" ] && return
    "$python" -m relxl train --threads 1 --out "$folder" "$@"
}
{
    train checkpoints/shakespeare-learned --text data/tinyshakespeare.txt --positions learned &&
    train checkpoints/shakespeare-absolute --text data/tinyshakespeare.txt --positions absolute \
        --mem-len 0 --lr 2e-3 --steps 2000
} > checkpoints/train-1.log 2>&1 &
first=$!
{
    train checkpoints/shakespeare-sinusoid --text data/tinyshakespeare.txt --positions sinusoid &&
    train checkpoints/songci-learned --text data/songci.txt --positions learned --steps 1500 --dropout 0.2 &&
    train checkpoints/shakespeare-leaky --text data/tinyshakespeare.txt --n-layer 2 --n-head 4 --d-model 64 \
        --d-inner 256 --mem-len 0 --steps 1500 --mask-order before --mask-fill multiply &&
    train checkpoints/film/shakespeare-small --text data/tinyshakespeare.txt --n-layer 2 --n-head 4 --d-model 64 \
        --d-inner 256 --max-len 128 --steps 1500 --snapshots 0,10,25,50,100,200,350,600,1000,1500
} > checkpoints/train-2.log 2>&1 &
second=$!
echo "progress is in checkpoints/train-1.log and checkpoints/train-2.log"
wait $first
status=$?
wait $second && exit $status
